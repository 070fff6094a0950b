import type { Pool } from "pg";
import type { Content, MediaContent } from "../driver.ts";

/** What an inbound file's `ref` holds. */
export interface MediaRef {
  media: string;
}

/** Keeps the file of a message at the network, once per id; the content then carries a ref in place of the bytes. */
export async function storeMedia(pool: Pool, id: string, content: Content): Promise<Content> {
  if (content.kind !== "media") return content;
  const { bytes, ref: _, ...described } = content;
  if (bytes === undefined) throw new Error("A media message needs its bytes.");
  await pool.query("insert into sandbox.media (id, bytes) values ($1, $2) on conflict do nothing", [
    id,
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  ]);
  const ref: MediaRef = { media: id };
  return { ...described, size: bytes.byteLength, ref } satisfies MediaContent;
}

const PIECE_BYTES = 256 * 1024;

/** Hands a file on piece by piece; `gone` when it has expired or never was. */
export async function loadMedia(
  pool: Pool,
  ref: unknown,
  onChunk: (chunk: Uint8Array) => Promise<void> | void,
): Promise<"done" | "gone"> {
  const id = typeof ref === "object" && ref !== null && "media" in ref ? ref.media : undefined;
  if (typeof id !== "string") return "gone";
  for (let start = 0, size = 1; start < size; start += PIECE_BYTES) {
    const { rows } = await pool.query<{ piece: Buffer; size: number }>(
      `select substring(bytes from $2 for $3) as piece, length(bytes) as size
        from sandbox.media where id = $1 and expires_at > now()`,
      [id, start + 1, PIECE_BYTES],
    );
    const found = rows[0];
    if (!found) return "gone";
    size = found.size;
    await onChunk(found.piece);
  }
  return "done";
}
