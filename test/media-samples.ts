import sharp from "sharp";

/** An Ogg Opus file with packets of these sizes, 20 ms each. The content is no sound. */
export function oggOpus(sizes: readonly number[]): Buffer {
  const head = Buffer.concat([Buffer.from("OpusHead\x01\x01", "latin1"), Buffer.alloc(9)]);
  const pages = [page(0n, [head]), page(0n, [Buffer.from("OpusTags\0\0\0\0\0\0\0\0", "latin1")])];
  for (let from = 0; from < sizes.length; from += 50) {
    const packets = sizes.slice(from, from + 50).map((size) => Buffer.alloc(size, 1));
    pages.push(page(BigInt(from + packets.length) * 960n, packets));
  }
  return Buffer.concat(pages);
}

function page(position: bigint, packets: readonly Buffer[]): Buffer {
  const lacing = packets.flatMap(({ length }) => [
    ...Array<number>(Math.floor(length / 255)).fill(255),
    length % 255,
  ]);
  const head = Buffer.alloc(27);
  head.write("OggS");
  head.writeBigInt64LE(position, 6);
  head[26] = lacing.length;
  return Buffer.concat([head, Buffer.from(lacing), ...packets]);
}

interface Video {
  width: number;
  height: number;
  seconds: number;
  /** Rotated by 90 degrees, as phones record upright videos. */
  isTurned?: boolean;
  /** The metadata is at the end. */
  isLast?: boolean;
  /** Bytes of the media data. */
  bytes?: number;
}

/** MP4 boxes of a video without pictures. */
export function mp4Video({
  width,
  height,
  seconds,
  isTurned = false,
  isLast = false,
  bytes = 3_000,
}: Video): Buffer {
  const mvhd = Buffer.alloc(100);
  mvhd.writeUInt32BE(1000, 12);
  mvhd.writeUInt32BE(seconds * 1000, 16);
  const tkhd = Buffer.alloc(84);
  tkhd.writeUInt32BE(isTurned ? 0 : 65_536, 40);
  tkhd.writeUInt32BE(isTurned ? 65_536 : 0, 44);
  tkhd.writeUInt32BE(width * 65_536, 76);
  tkhd.writeUInt32BE(height * 65_536, 80);
  const sound = box("trak", box("tkhd", Buffer.alloc(84)));
  const moov = box("moov", Buffer.concat([box("mvhd", mvhd), sound, box("trak", box("tkhd", tkhd))]));
  const mdat = box("mdat", Buffer.alloc(bytes));
  const ftyp = box("ftyp", Buffer.from("isom\0\0\x02\0isomiso2", "latin1"));
  return Buffer.concat(isLast ? [ftyp, mdat, moov] : [ftyp, moov, mdat]);
}

function box(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, body]);
}

/** A WebP sticker of 512 pixels, animated with several frames. */
export async function webpSticker(frames: number): Promise<Buffer> {
  const image = (nth: number) =>
    sharp({
      create: { width: 512, height: 512, channels: 4, background: nth % 2 === 0 ? "#c02020" : "#20c020" },
    })
      .png()
      .toBuffer();
  const [even, odd] = await Promise.all([image(0), image(1)]);
  const images = Array.from({ length: frames }, (_, nth) => (nth % 2 === 0 ? even : odd));
  return frames === 1
    ? sharp(even).webp().toBuffer()
    : sharp(images, { join: { animated: true } })
        .webp()
        .toBuffer();
}

/** A red picture as BMP, 24 bits per pixel. */
export function bmpOf(width: number, height: number): Buffer {
  const row = Buffer.alloc(Math.ceil((width * 3) / 4) * 4);
  for (let x = 0; x < width; x++) row[x * 3 + 2] = 255;
  const pixels = Buffer.concat(Array.from({ length: height }, () => row));
  const head = Buffer.alloc(54);
  head.write("BM", "latin1");
  head.writeUInt32LE(head.length + pixels.length, 2);
  head.writeUInt32LE(head.length, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(width, 18);
  head.writeInt32LE(height, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(24, 28);
  return Buffer.concat([head, pixels]);
}

/** A red HEIC picture of 40 x 30 pixels, made by libheif's heif-enc. */
export const HEIC_PICTURE = Buffer.from(
  "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAa1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAAAAACAAAAEGlkYXQAAAAAACgAHgAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHRAAEAAAAAAAAAJgACAAEAAAAAAAAAAQAAAAAAAAAIAAAAOGlpbmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAAAADYaXBycAAAALZpcGNvAAAAdmh2Y0MBA3AAAAAAAAAAAAAe8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAeugJAIQABACpCAQEDcAAAAwCQAAADAAADAB6gIIEFluqumubgQEDAgAAAAwCAAAADAIQiAAEABkQBwXPBiQAAABRpc3BlAAAAAAAAAEAAAABAAAAAFGlzcGUAAAAAAAAAKAAAAB4AAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAAAgABAoECAAICA4QAAAAaaXJlZgAAAAAAAAAOZGltZwACAAEAAQAAAC5tZGF0AAAAIigBrwQSE0zg+OnCaD/R1fqyVcUvJ+2rK+NJn3exGJKp/6A=",
  "base64",
);
