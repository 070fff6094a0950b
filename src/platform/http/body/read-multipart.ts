import { GatewayError } from "../../gateway-error.ts";

/** One part of a form; its content follows in pieces. */
export interface MultipartHeader {
  name: string;
  /** Set for a file, and empty if the field was left empty. */
  file_name?: string;
  mime_type?: string;
}

export type MultipartChunk = { part: MultipartHeader } | { piece: Buffer };

const HEAD_LIMIT = 16_384;
const END_OF_HEAD = "\r\n\r\n";

/** Parses a multipart/form-data body as it arrives. Throws VALIDATION_ERROR if it is malformed or truncated. */
export async function* readMultipart(
  body: AsyncIterable<Buffer>,
  contentType: string,
): AsyncGenerator<MultipartChunk> {
  const splitter = new Splitter(boundaryOf(contentType));
  for await (const chunk of body) {
    splitter.add(chunk);
    for (let next = splitter.next(); next; next = splitter.next()) yield next;
  }
  if (!splitter.isOver) throw malformedForm();
}

export function malformedForm(): GatewayError {
  return new GatewayError("VALIDATION_ERROR", "The body is not valid multipart/form-data.");
}

function boundaryOf(contentType: string): string {
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) throw malformedForm();
  return boundary;
}

class Splitter {
  readonly #delimiter: Buffer;
  // The first delimiter may have no line break before it.
  #held: Buffer = Buffer.from("\r\n");
  #state: "before" | "after_delimiter" | "head" | "content" | "over" = "before";

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  }

  get isOver(): boolean {
    return this.#state === "over";
  }

  add(chunk: Buffer): void {
    if (!this.isOver) this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
  }

  /** Undefined until more data arrives. */
  next(): MultipartChunk | undefined {
    switch (this.#state) {
      case "over":
        return undefined;
      case "before":
        return this.#skipPreamble();
      case "after_delimiter":
        return this.#readDelimiterEnd();
      case "head":
        return this.#readHead();
      case "content":
        return this.#readContent();
    }
  }

  #skipPreamble(): MultipartChunk | undefined {
    const at = this.#held.indexOf(this.#delimiter);
    if (at < 0) {
      this.#drop(Math.max(0, this.#held.length - this.#delimiter.length));
      return undefined;
    }
    return this.#leaveDelimiter(at);
  }

  #leaveDelimiter(at: number): MultipartChunk | undefined {
    this.#drop(at + this.#delimiter.length);
    this.#state = "after_delimiter";
    return this.next();
  }

  #readDelimiterEnd(): MultipartChunk | undefined {
    if (this.#held.length < 2) return undefined;
    const mark = this.#held.toString("latin1", 0, 2);
    if (mark !== "--" && mark !== "\r\n") throw malformedForm();
    this.#drop(mark === "--" ? this.#held.length : 2);
    this.#state = mark === "--" ? "over" : "head";
    return this.next();
  }

  #readHead(): MultipartChunk | undefined {
    const end = this.#held.indexOf(END_OF_HEAD);
    if (end > HEAD_LIMIT || (end < 0 && this.#held.length > HEAD_LIMIT)) throw malformedForm();
    if (end < 0) return undefined;
    const part = parseHead(this.#held.toString("utf8", 0, end));
    // The line break before the delimiter may be the one that ends the header.
    this.#drop(end + 2);
    this.#state = "content";
    this.#isAtStart = true;
    return { part };
  }

  #isAtStart = false;

  #readContent(): MultipartChunk | undefined {
    const at = this.#held.indexOf(this.#delimiter);
    if (at < 0 && this.#held.length <= this.#delimiter.length + 2) return undefined;
    const start = this.#isAtStart ? Math.min(2, at < 0 ? 2 : at) : 0;
    const end = at < 0 ? this.#held.length - this.#delimiter.length : at;
    const piece = this.#held.subarray(start, end);
    this.#isAtStart = false;
    if (at < 0) this.#drop(end);
    else {
      this.#drop(at + this.#delimiter.length);
      this.#state = "after_delimiter";
    }
    return piece.length > 0 ? { piece } : this.next();
  }

  #drop(bytes: number): void {
    this.#held = this.#held.subarray(bytes);
  }
}

function parseHead(head: string): MultipartHeader {
  const headers = new Map(
    head.split("\r\n").map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, Math.max(0, colon)).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const disposition = headers.get("content-disposition") ?? "";
  const name = parameterOf(disposition, "name");
  if (!/^form-data\b/i.test(disposition) || name === undefined) throw malformedForm();
  const file_name = parameterOf(disposition, "filename");
  const mime_type = headers.get("content-type");
  return { name, ...(file_name !== undefined && { file_name }), ...(mime_type && { mime_type }) };
}

const PARAMETERS = {
  name: /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i,
  filename: /;\s*filename=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i,
};

/** Quotes and line breaks in the value are decoded as browsers encode them. */
function parameterOf(disposition: string, name: keyof typeof PARAMETERS): string | undefined {
  const [, quoted, bare] = PARAMETERS[name].exec(disposition) ?? [];
  return (quoted ?? bare)
    ?.replace(/\\(["\\])/g, "$1")
    .replace(/%22|%0D|%0A/gi, (code) => decodeURIComponent(code));
}
