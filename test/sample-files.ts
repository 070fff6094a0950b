import { crc32, deflateSync } from "node:zlib";

/** Minimal files whose type is recognisable by content. */
export const SAMPLE = {
  png: Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
  jpeg: Buffer.concat([
    Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]),
    Buffer.from("JFIF\0"),
    Buffer.alloc(64),
  ]),
  gif: Buffer.from("GIF89a\x01\0\x01\0\0\0\0;", "latin1"),
  webp: Buffer.concat([Buffer.from("RIFF\x1a\0\0\0WEBPVP8L", "latin1"), Buffer.alloc(32)]),
  mp4: Buffer.concat([Buffer.from("\0\0\0\x18ftypisom\0\0\x02\0isomiso2", "latin1"), Buffer.alloc(64)]),
  mp3: Buffer.concat([
    Buffer.from("ID3\x04\0\0\0\0\0\0", "latin1"),
    Buffer.from([0xff, 0xfb, 0x90, 0x64]),
    Buffer.alloc(416),
  ]),
  opus: Buffer.concat([
    Buffer.from("OggS\0\x02", "latin1"),
    Buffer.alloc(22),
    Buffer.from("OpusHead\x01\x01", "latin1"),
    Buffer.alloc(64),
  ]),
  /** A tenth of a second of silence. */
  wav: Buffer.concat([
    Buffer.from(
      "RIFF\x64\x06\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0",
      "latin1",
    ),
    Buffer.from("data\x40\x06\0\0", "latin1"),
    Buffer.alloc(1600),
  ]),
  pdf: Buffer.from("%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"),
  zip: Buffer.concat([Buffer.from("PK\x03\x04\x14\0\0\0\0\0", "latin1"), Buffer.alloc(64)]),
  exe: Buffer.concat([Buffer.from("MZ\x90\0", "latin1"), Buffer.alloc(128)]),
  svg: Buffer.from(
    `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`,
  ),
  html: Buffer.from("<!doctype html><script>alert(1)</script>"),
  text: Buffer.from("name;amount\nBia;7\n"),
} satisfies Record<string, Buffer>;

export function inBase64(file: Buffer): string {
  return file.toString("base64");
}

/** A valid black PNG of `side` x `side` pixels with a small file. */
export function blackPng(side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // One bit per pixel.
  header[8] = 1;
  const rows = deflateSync(Buffer.alloc(side * (1 + Math.ceil(side / 8))), { level: 1 });
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([
    signature,
    pngChunk("IHDR", header),
    pngChunk("IDAT", rows),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
