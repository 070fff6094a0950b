export type Style = "bold" | "italic" | "strike";

export type Part =
  | string
  | { kind: Style; parts: Part[] }
  | { kind: "code"; text: string }
  | { kind: "link"; url: string };

const STYLES: Partial<Record<string, Style>> = { "*": "bold", _: "italic", "~": "strike" };
const FENCE = "```";

/** Parses one line in linear time. An unmatched marker stays text. */
export function parseLine(line: string): Part[] {
  const spans = new Spans();
  let plainFrom = 0;
  let at = 0;
  const replace = (length: number, change: () => void) => {
    spans.add(line.slice(plainFrom, at));
    change();
    at += length;
    plainFrom = at;
  };
  while (at < line.length) {
    const literal = readCode(line, at) ?? readLink(line, at, spans);
    if (literal) replace(literal.length, () => spans.add(literal.part));
    else if (spans.mayClose(line, at)) replace(1, () => spans.close(line[at] ?? ""));
    else if (mayOpen(line, at)) replace(1, () => spans.open(line[at] ?? "", at));
    else at += 1;
  }
  spans.add(line.slice(plainFrom));
  return spans.end();
}

/** A marker opens a format only at the start of a word. */
function mayOpen(line: string, at: number): boolean {
  if (STYLES[line[at] ?? ""] === undefined) return false;
  return !isWord(line[at - 1]) && at + 1 < line.length && !isSpace(line[at + 1]);
}

interface Span {
  sign: string;
  at: number;
  parts: Part[];
}

/** The open formats, each at most once: never more than three. */
class Spans {
  readonly #all: Span[] = [{ sign: "", at: -1, parts: [] }];

  add(part: Part): void {
    append(this.#all.at(-1)?.parts ?? [], part);
  }

  isOpen(sign: string): boolean {
    return this.#all.some((span) => span.sign === sign);
  }

  mayClose(line: string, at: number): boolean {
    const span = this.#all.find(({ sign }) => sign === line[at]);
    if (span === undefined || at === span.at + 1) return false;
    return !isSpace(line[at - 1]) && !isWord(line[at + 1]);
  }

  open(sign: string, at: number): void {
    const index = this.#all.findIndex((span) => span.sign === sign);
    if (index > 0) this.#dissolve(index);
    this.#all.push({ sign, at, parts: [] });
  }

  close(sign: string): void {
    while (this.#all.at(-1)?.sign !== sign) this.#dissolve(this.#all.length - 1);
    const { parts = [] } = this.#all.pop() ?? {};
    this.add({ kind: STYLES[sign] ?? "bold", parts });
  }

  end(): Part[] {
    while (this.#all.length > 1) this.#dissolve(this.#all.length - 1);
    return this.#all[0]?.parts ?? [];
  }

  /** The marker is unmatched, so its content moves into the enclosing format. */
  #dissolve(index: number): void {
    const around = this.#all[index - 1]?.parts ?? [];
    const [span] = this.#all.splice(index, 1);
    append(around, span?.sign ?? "");
    for (const part of span?.parts ?? []) append(around, part);
  }
}

/** Appends a part and merges adjacent texts. */
export function append(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  if (part === "") return;
  if (typeof part === "string" && typeof last === "string") parts[parts.length - 1] = last + part;
  else parts.push(part);
}

interface Literal {
  part: Part;
  length: number;
}

/** Markers inside code are text. */
function readCode(line: string, at: number): Literal | undefined {
  if (line[at] !== "`") return undefined;
  if (line.startsWith(FENCE, at)) return readBetween(line, at, FENCE);
  const code = isWord(line[at - 1]) ? undefined : readBetween(line, at, "`");
  return code && isWord(line[at + code.length]) ? undefined : code;
}

function readBetween(line: string, at: number, sign: string): Literal | undefined {
  const from = at + sign.length;
  const end = line.indexOf(sign, from);
  const text = line.slice(from, Math.max(from, end));
  return text.trim() === "" ? undefined : { part: { kind: "code", text }, length: end + sign.length - at };
}

const SCHEME = /https?:\/\//iy;
/** Invisible characters, which can disguise an address, end a link. */
const AFTER_LINK = /[\s<>"\p{Cc}\p{Cf}]/gu;
const NOT_LAST = new Set(".,;:!?)]}'`");

/** A trailing marker closes an open format, and otherwise belongs to the link, which may end in `_`. */
function readLink(line: string, at: number, spans: Spans): Literal | undefined {
  const first = line[at];
  if ((first !== "h" && first !== "H") || /[a-z\d]/i.test(line[at - 1] ?? "")) return undefined;
  SCHEME.lastIndex = at;
  if (!SCHEME.test(line)) return undefined;
  const from = SCHEME.lastIndex;
  AFTER_LINK.lastIndex = from;
  let end = AFTER_LINK.exec(line)?.index ?? line.length;
  const mayEnd = (sign = "") => !NOT_LAST.has(sign) && !(sign in STYLES && spans.isOpen(sign));
  while (end > from && !mayEnd(line[end - 1])) end -= 1;
  return end === from ? undefined : { part: { kind: "link", url: line.slice(at, end) }, length: end - at };
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character);
}
