import type { Content, MediaContent } from "../../driver.ts";
import type { SandboxNetwork } from "../sandbox-network.ts";

/** The fields of an inbound file's `ref`. */
export interface SandboxMediaRef {
  media: string;
}

/**
 * Stores the file of a message in the network, once per id; the content then has a ref instead of the bytes. A
 * forwarded file is there already.
 */
export async function storeMedia(
  { client, account_id }: SandboxNetwork,
  id: string,
  content: Content,
): Promise<Content> {
  if (content.kind !== "media") return content;
  const { bytes, ref: earlier, ...described } = content;
  if (bytes === undefined && earlier !== undefined) return content;
  if (bytes === undefined) throw new Error("A media message needs its bytes.");
  await client.query(
    "insert into sandbox.media (account_id, id, bytes) values ($1, $2, $3) on conflict do nothing",
    [account_id, id, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)],
  );
  const ref: SandboxMediaRef = { media: id };
  return { ...described, size: bytes.byteLength, ref } satisfies MediaContent;
}

const PIECE_BYTES = 256 * 1024;

/** Streams a file in chunks; returns `gone` if it has expired or never existed. */
export async function loadMedia(
  { client, account_id }: SandboxNetwork,
  ref: unknown,
  onChunk: (chunk: Uint8Array) => Promise<void> | void,
): Promise<"done" | "gone"> {
  const id = typeof ref === "object" && ref !== null && "media" in ref ? ref.media : undefined;
  if (typeof id !== "string") return "gone";
  for (let start = 0, size = 1; start < size; start += PIECE_BYTES) {
    const { rows } = await client.query<{ piece: Buffer; size: number }>(
      `select substring(bytes from $2 for $3) as piece, length(bytes) as size
        from sandbox.media where id = $1 and account_id = $4 and expires_at > now()`,
      [id, start + 1, PIECE_BYTES, account_id],
    );
    const found = rows[0];
    if (!found) return "gone";
    size = found.size;
    await onChunk(found.piece);
  }
  return "done";
}
