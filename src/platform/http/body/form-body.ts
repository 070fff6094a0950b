import type { Readable } from "node:stream";
import { z } from "zod";
import { GatewayError } from "../../gateway-error.ts";
import { decodeText } from "../../text/decode-text.ts";
import type { Route, UploadedFile } from "../route.ts";
import { type MultipartHeader, malformedForm, readMultipart } from "./read-multipart.ts";
import type { UploadSink, UploadSpool } from "./upload-spool.ts";

/** A body that is a file, without a form. */
export class FileBody implements UploadedFile {
  readonly bytes: Uint8Array;
  readonly mime_type: string;

  constructor(bytes: Uint8Array, mimeType: string) {
    this.bytes = bytes;
    this.mime_type = mimeType;
  }
}

type Fields = Record<string, unknown>;
type Kind = "boolean" | "number" | "json" | "text";

/** Options for reading a form. */
export interface ReadFormOptions {
  /** The field that takes the form's file. */
  upload: string;
  /** Largest body. */
  limitBytes: number;
  /** Holds the file until the request ends; if absent, the file stays in memory as `bytes`. */
  spool?: UploadSpool;
}

const TEXT_LIMIT_BYTES = 4 * 1024 * 1024;
const FIELD_LIMIT = 1_000;

/** A multipart/form-data body that is still arriving; it is parsed only on routes that take files. */
export class FormBody {
  readonly #body: Readable;
  readonly #type: string;

  constructor(body: Readable, type: string) {
    this.#body = body;
    this.#type = type;
  }

  /** Returns the form's texts and its file. Throws VALIDATION_ERROR if malformed, PAYLOAD_TOO_LARGE. */
  async read(reading: ReadFormOptions): Promise<Fields> {
    const form = new FormReader(reading);
    const body = upTo(reading.limitBytes, this.#body.iterator({ destroyOnReturn: false }));
    try {
      for await (const chunk of readMultipart(body, this.#type)) {
        if ("part" in chunk) await form.begin(chunk.part);
        else await form.write(chunk.piece);
      }
      return await form.end();
    } catch (error) {
      // A connection accepts the next request only after this one is read to its end.
      this.#body.resume();
      throw error;
    }
  }
}

async function* upTo(limitBytes: number, body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > limitBytes) throw tooLarge();
    yield chunk;
  }
}

function tooLarge(): GatewayError {
  // The client continues to send data that is not read.
  return new GatewayError("PAYLOAD_TOO_LARGE", "The body is too large.", {
    headers: { connection: "close" },
  });
}

/** The parts of a form in sequence. */
class FormReader {
  readonly #reading: ReadFormOptions;
  readonly #fields: Fields = {};
  #part: MultipartHeader | undefined;
  #texts: Buffer[] = [];
  #textBytes = 0;
  #count = 0;
  #file: { header: MultipartHeader; sink: UploadSink } | undefined;

  constructor(reading: ReadFormOptions) {
    this.#reading = reading;
  }

  async begin(part: MultipartHeader): Promise<void> {
    this.#endText();
    this.#count += 1;
    if (this.#count > FIELD_LIMIT) throw tooLarge();
    this.#part = part;
    if (part.file_name) await this.#openFile(part);
  }

  async write(piece: Buffer): Promise<void> {
    const part = this.#part;
    if (!part) throw malformedForm();
    if (part.file_name === undefined) return this.#addText(piece);
    // A file without a name counts if it has content.
    if (this.#file?.header !== part) await this.#openFile(part);
    await this.#file?.sink.write(piece);
  }

  async end(): Promise<Fields> {
    this.#endText();
    if (this.#file) {
      const { header, sink } = this.#file;
      const { file_name, mime_type } = header;
      define(
        this.#fields,
        this.#reading.upload,
        await sink.end({ file_name: file_name || undefined, mime_type }),
      );
    }
    return this.#fields;
  }

  async #openFile(header: MultipartHeader): Promise<void> {
    if (this.#file)
      throw new GatewayError(
        "VALIDATION_ERROR",
        "The body contains more than one file. Send one file per request.",
      );
    const { spool } = this.#reading;
    this.#file = { header, sink: spool ? await spool.open() : memorySink() };
  }

  #addText(piece: Buffer): void {
    this.#textBytes += piece.length;
    if (this.#textBytes > TEXT_LIMIT_BYTES) throw tooLarge();
    this.#texts.push(Buffer.from(piece));
  }

  #endText(): void {
    if (this.#part && this.#part.file_name === undefined)
      define(this.#fields, this.#part.name, decodeText(Buffer.concat(this.#texts), charsetOf(this.#part)));
    this.#texts = [];
  }
}

function charsetOf({ mime_type = "" }: MultipartHeader): string | undefined {
  return /;\s*charset="?([\w-]{1,40})/i.exec(mime_type)?.[1];
}

function memorySink(): UploadSink {
  const pieces: Buffer[] = [];
  return {
    async write(piece) {
      pieces.push(Buffer.from(piece));
    },
    end: async (declared) => ({ bytes: Buffer.concat(pieces), ...declared }),
  };
}

/** Defines an own property, even for names such as `__proto__`. */
function define(fields: Fields, name: string, value: unknown): void {
  Object.defineProperty(fields, name, { value, enumerable: true, writable: true, configurable: true });
}

/** Form values are texts: converts them to the types of the route's input and leaves the rest to its schema. */
export function createFormReader({ input }: Route): (fields: Fields) => Fields {
  const { properties = {} } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  const kinds = new Map(Object.entries(properties).map(([name, schema]) => [name, kindOf(schema)]));
  return (fields) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, readAs(kinds.get(name), value)]));
}

function kindOf(schema: unknown): Kind {
  const { type, anyOf = [] } = Object(schema) as { type?: unknown; anyOf?: unknown[] };
  if (anyOf.some((one) => kindOf(one) === "json")) return "json";
  if (type === "boolean") return "boolean";
  if (type === "number" || type === "integer") return "number";
  return type === "object" || type === "array" ? "json" : "text";
}

function readAs(kind: Kind | undefined, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (kind === "boolean") return value === "true" ? true : value === "false" ? false : value;
  if (kind === "number") return value.trim() === "" ? value : Number(value);
  return kind === "json" ? parsed(value) : value;
}

/** Parses only a list or an object; digits stay a text if the schema accepts both. */
function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
