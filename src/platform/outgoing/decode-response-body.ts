import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createUnzip } from "node:zlib";

const MAX_CODINGS = 3;

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", createUnzip],
  ["x-gzip", createUnzip],
  ["deflate", createUnzip],
  ["br", createBrotliDecompress],
]);
/** Compressed in a way that Node 20 cannot decode. Any other word is a mistake of the server, and the body is plain. */
const UNREADABLE = /^(?:compress|x-compress|zstd|dcb|dcz|exi|pack200-gzip)$/;
const OF_ZLIB = /^(?:Z_|ERR__|ERR_BROTLI)/;

/** A body that is not in the coding that its response declares. */
export class UndecodableBodyError extends Error {
  override readonly name = "UndecodableBodyError";

  constructor(codings: readonly string[], cause?: unknown) {
    super(`The response is compressed (Content-Encoding: ${codings.join(", ")}) and cannot be unpacked.`, {
      cause,
    });
  }
}

/** A body without its Content-Encoding, which some hosts store with a file, whatever was asked for. */
export async function* decodeResponseBody(body: Readable, contentEncoding = ""): AsyncGenerator<Buffer> {
  const codings = contentEncoding
    .slice(0, 200)
    .split(",")
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => DECODERS.has(coding) || UNREADABLE.test(coding));
  const decoders = codings.flatMap((coding) => DECODERS.get(coding) ?? []);
  // Destroying an unfinished body emits an error that needs a listener.
  body.on("error", () => {});
  try {
    if (codings.length > MAX_CODINGS || decoders.length < codings.length)
      throw new UndecodableBodyError(codings);
    const plain = decoders.reduceRight<Readable>(
      (coded, create) => pipeline(coded, create(), () => {}),
      body,
    );
    yield* plain as AsyncIterable<Buffer>;
  } catch (error) {
    throw isOfZlib(error) ? new UndecodableBodyError(codings, error) : error;
  } finally {
    body.destroy();
  }
}

function isOfZlib(error: unknown): boolean {
  return error instanceof Error && "code" in error && OF_ZLIB.test(String(error.code));
}
