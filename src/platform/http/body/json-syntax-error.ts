/** Where a text stops being JSON, counted from 1. */
export interface JsonSyntaxError {
  line: number;
  column: number;
}

/** The first error of a text that is not JSON, in one pass; undefined for JSON. The caller bounds the depth. */
export function findJsonSyntaxError(text: string): JsonSyntaxError | undefined {
  const walk = new JsonWalk(text);
  if (walk.document()) return undefined;
  const before = text.slice(0, walk.at);
  return { line: before.split("\n").length, column: walk.at - before.lastIndexOf("\n") };
}

const SPACE = new Set([" ", "\t", "\n", "\r"]);
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /["\\/bfnrt]|u[\da-fA-F]{4}/y;

/** Each method returns whether the text is valid so far; on an error, `at` is its position. */
class JsonWalk {
  readonly #text: string;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): boolean {
    return this.#value() && this.at === this.#text.length;
  }

  #value(): boolean {
    this.#space();
    const char = this.#text.charAt(this.at);
    const isRead =
      char === "{"
        ? this.#entries("}", () => this.#member())
        : char === "["
          ? this.#entries("]", () => this.#value())
          : char === '"'
            ? this.#string()
            : this.#match(WORD);
    if (isRead) this.#space();
    return isRead;
  }

  #entries(closer: string, entry: () => boolean): boolean {
    this.at++;
    this.#space();
    if (this.#take(closer)) return true;
    do {
      if (!entry()) return false;
    } while (this.#take(","));
    return this.#take(closer);
  }

  #member(): boolean {
    this.#space();
    if (this.#text.charAt(this.at) !== '"' || !this.#string()) return false;
    this.#space();
    return this.#take(":") && this.#value();
  }

  #string(): boolean {
    this.at++;
    while (this.at < this.#text.length) {
      const char = this.#text.charAt(this.at);
      if (char < " ") return false;
      this.at++;
      if (char === '"') return true;
      if (char === "\\" && !this.#match(ESCAPE)) return false;
    }
    return false;
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const isThere = pattern.test(this.#text);
    if (isThere) this.at = pattern.lastIndex;
    return isThere;
  }

  #take(char: string): boolean {
    if (this.#text.charAt(this.at) !== char) return false;
    this.at++;
    return true;
  }

  #space(): void {
    while (SPACE.has(this.#text.charAt(this.at))) this.at++;
  }
}
