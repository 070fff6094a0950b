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

/** The bytes of a file; undefined when it has expired or never was. */
export async function loadMedia(pool: Pool, ref: unknown): Promise<Uint8Array | undefined> {
  const id = typeof ref === "object" && ref !== null && "media" in ref ? ref.media : undefined;
  if (typeof id !== "string") return undefined;
  const { rows } = await pool.query<{ bytes: Buffer }>(
    "select bytes from sandbox.media where id = $1 and expires_at > now()",
    [id],
  );
  return rows[0]?.bytes;
}
