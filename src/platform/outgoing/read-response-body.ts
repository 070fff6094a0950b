import type { Readable } from "node:stream";

/** Wraps an error of the code that receives the pieces: it is the gateway's fault, whatever its code. */
export class ChunkHandlerError extends Error {
  override readonly name = "ChunkHandlerError";
}

/** Reads the first `maxBytes`, or the part before the body broke; an early end closes the connection. */
export async function readResponseBody(
  body: Readable,
  maxBytes: number,
): Promise<{ body: Buffer; truncated: boolean }> {
  const chunks: Buffer[] = [];
  // Destroying an unfinished body emits an error that needs a listener.
  body.on("error", () => {});
  const end = await readWhile(body, (chunk: Buffer, bytes) => {
    chunks.push(chunk);
    return bytes <= maxBytes;
  }).catch(() => "broken" as const);
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: end !== "whole" };
}

/** Passes the first `maxBytes` of a body on in pieces; rejects if the body breaks. */
export async function streamResponseBody(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  onChunk: (chunk: Buffer) => void | Promise<void>,
): Promise<{ bytes: number; truncated: boolean }> {
  let passed = 0;
  const end = await readWhile(body, async (chunk, bytes) => {
    const piece = chunk.subarray(0, maxBytes - passed);
    passed += piece.length;
    if (piece.length > 0) await handOver(piece, onChunk);
    return bytes <= maxBytes;
  });
  return { bytes: passed, truncated: end === "cut" };
}

async function readWhile(
  body: AsyncIterable<Buffer>,
  onChunk: (chunk: Buffer, bytes: number) => boolean | Promise<boolean>,
): Promise<"whole" | "cut"> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (!(await onChunk(chunk, bytes))) {
      return "cut";
    }
  }
  return "whole";
}

async function handOver(chunk: Buffer, onChunk: (chunk: Buffer) => void | Promise<void>): Promise<void> {
  try {
    await onChunk(chunk);
  } catch (cause) {
    throw new ChunkHandlerError("the receiver of the download failed", { cause });
  }
}
