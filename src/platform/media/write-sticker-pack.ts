import { createHash } from "node:crypto";

/** What phones show of a sticker, and where they list it. */
export interface StickerPack {
  pack_name?: string | undefined;
  pack_publisher?: string | undefined;
  emojis?: readonly string[] | undefined;
}

/** A TIFF with one entry, of the tag under which WhatsApp keeps the pack: the length of the text follows. */
const HEAD = Buffer.from("49492a00080000000100415707000000000016000000", "hex");
const LENGTH_AT = 14;
const CHUNK_HEAD = 8;
const RIFF_HEAD = 12;
const EXTENDED = "VP8X";
const METADATA = "EXIF";
const HAS_METADATA = 0x08;
const HAS_ALPHA = 0x10;

/** The WebP with its pack as metadata. `size`: of the picture, in pixels. */
export function writeStickerPack(
  webp: Buffer,
  pack: StickerPack,
  size: { width: number; height: number },
): Buffer {
  const chunks = readChunks(webp).filter(({ name }) => name !== METADATA);
  const extended = chunks.find(({ name }) => name === EXTENDED)?.bytes ?? extend(chunks, size);
  extended[0] = (extended[0] ?? 0) | HAS_METADATA;
  const others = chunks.filter(({ name }) => name !== EXTENDED);
  const body = [{ name: EXTENDED, bytes: extended }, ...others, { name: METADATA, bytes: toExif(pack) }];
  const parts = Buffer.concat([Buffer.from("WEBP"), ...body.map(writeChunk)]);
  return Buffer.concat([headOf("RIFF", parts.length), parts]);
}

interface Chunk {
  name: string;
  bytes: Buffer;
}

function readChunks(webp: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = RIFF_HEAD; at + CHUNK_HEAD <= webp.length; ) {
    const end = at + CHUNK_HEAD + webp.readUInt32LE(at + 4);
    const name = webp.toString("latin1", at, at + 4);
    chunks.push({ name, bytes: Buffer.from(webp.subarray(at + CHUNK_HEAD, end)) });
    at = end + (end % 2);
  }
  return chunks;
}

/** The header that a simple file lacks. */
function extend([picture]: Chunk[], { width, height }: { width: number; height: number }): Buffer {
  const header = Buffer.alloc(10);
  // A lossless picture says in its fifth byte whether it is transparent.
  const isTransparent = picture?.name === "VP8L" && ((picture.bytes[4] ?? 0) & HAS_ALPHA) !== 0;
  header[0] = isTransparent ? HAS_ALPHA : 0;
  header.writeUIntLE(width - 1, 4, 3);
  header.writeUIntLE(height - 1, 7, 3);
  return header;
}

function toExif({ pack_name = "", pack_publisher = "", emojis = [] }: StickerPack): Buffer {
  const id = createHash("sha256")
    .update(JSON.stringify([pack_name, pack_publisher]))
    .digest("hex");
  const text = JSON.stringify({
    "sticker-pack-id": id,
    "sticker-pack-name": pack_name,
    "sticker-pack-publisher": pack_publisher,
    emojis,
  });
  const head = Buffer.from(HEAD);
  head.writeUInt32LE(Buffer.byteLength(text), LENGTH_AT);
  return Buffer.concat([head, Buffer.from(text)]);
}

function writeChunk({ name, bytes }: Chunk): Buffer {
  const padding = Buffer.alloc(bytes.length % 2);
  return Buffer.concat([headOf(name, bytes.length), bytes, padding]);
}

function headOf(name: string, length: number): Buffer {
  const head = Buffer.alloc(CHUNK_HEAD);
  head.write(name, "latin1");
  head.writeUInt32LE(length, 4);
  return head;
}
