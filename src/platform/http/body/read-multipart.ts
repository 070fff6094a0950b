import { Dicer } from "@fastify/busboy";
import { GatewayError } from "../../gateway-error.ts";
import { fileNameInForm, formText, readDisposition } from "../../text/file-names.ts";

/** One part of a form; its content follows in pieces. */
export interface MultipartHeader {
  name: string;
  /** Set for a file, and empty if the field was left empty. */
  file_name?: string;
  mime_type?: string;
}

export type MultipartChunk = { part: MultipartHeader } | { piece: Buffer };

const MOST_HEADERS = 50;

/** Parses a multipart/form-data body as it arrives. Throws VALIDATION_ERROR if it is malformed or truncated. */
export async function* readMultipart(
  body: AsyncIterable<Buffer>,
  contentType: string,
): AsyncGenerator<MultipartChunk> {
  const reader = new PartReader(boundaryOf(contentType));
  for await (const chunk of body) {
    const parsed = reader.add(chunk);
    yield* reader.drain();
    await parsed;
  }
  await reader.end();
}

export function malformedForm(): GatewayError {
  return new GatewayError(
    "VALIDATION_ERROR",
    "The body is not valid multipart/form-data. Check the boundary in Content-Type, and send the whole form.",
  );
}

function boundaryOf(contentType: string): string {
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) throw malformedForm();
  return boundary;
}

/** Feeds Dicer chunk by chunk; what has arrived is taken from it before the next chunk. */
class PartReader {
  readonly #parser: Dicer;
  readonly #isWhole: Promise<boolean>;
  #parts: ArrivingPart[] = [];
  #isOver = false;

  constructor(boundary: string) {
    this.#parser = new Dicer({ boundary, maxHeaderPairs: MOST_HEADERS });
    this.#parser.on("part", (stream) => this.#parts.push(new ArrivingPart(stream)));
    this.#isWhole = new Promise<boolean>((resolve) => {
      this.#parser.once("finish", () => resolve(true));
      this.#parser.on("error", () => resolve(false));
    });
    void this.#isWhole.then(() => {
      this.#isOver = true;
    });
  }

  /** Parses at once; resolves when the pieces are taken. */
  async add(chunk: Buffer): Promise<void> {
    // Dicer would keep what follows the end of the form in memory.
    if (this.#isOver) return;
    const written = new Promise((resolve) => this.#parser.write(chunk, resolve));
    // Dicer does not confirm the chunk that ends the form if the pieces in it filled its buffer.
    await Promise.race([written, this.#isWhole]);
  }

  *drain(): Generator<MultipartChunk> {
    for (const part of this.#parts) yield* part.drain();
    const last = this.#parts.pop();
    if (this.#parts.some(({ hasHeader }) => !hasHeader)) throw malformedForm();
    this.#parts = last ? [last] : [];
  }

  async end(): Promise<void> {
    this.#parser.end();
    if (!(await this.#isWhole) || this.#parts.some(({ hasHeader }) => !hasHeader)) throw malformedForm();
  }
}

class ArrivingPart {
  readonly #stream: Dicer.PartStream;
  #headers: PartHeaders | undefined;
  hasHeader = false;

  constructor(stream: Dicer.PartStream) {
    this.#stream = stream;
    stream.once("header", (headers) => {
      this.#headers = headers as PartHeaders;
      this.hasHeader = true;
    });
    // The parser reports the same failure.
    stream.on("error", () => {});
  }

  *drain(): Generator<MultipartChunk> {
    if (this.#headers) yield { part: toHeader(this.#headers) };
    this.#headers = undefined;
    for (let piece = this.#stream.read(); piece !== null; piece = this.#stream.read()) yield { piece };
  }
}

/** As Dicer reads them: one character per byte, names in lower case. */
type PartHeaders = Partial<Record<string, string[]>>;

function toHeader(headers: PartHeaders): MultipartHeader {
  const [disposition = ""] = headers["content-disposition"] ?? [];
  const parameters = readDisposition(disposition);
  const name = parameters.get("name");
  if (!/^\s*form-data\b/i.test(disposition) || name === undefined) throw malformedForm();
  const file_name = fileNameInForm(parameters);
  const mime_type = headers["content-type"]?.[0]?.trim();
  return {
    name: formText(name),
    ...(file_name !== undefined && { file_name }),
    ...(mime_type && { mime_type }),
  };
}
