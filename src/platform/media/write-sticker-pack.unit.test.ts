import sharp from "sharp";
import { expect, test } from "vitest";
import { readPicture } from "./read-picture.ts";
import { writeStickerPack } from "./write-sticker-pack.ts";

const pack = { pack_name: "Shop", pack_publisher: "Padaria Real", emojis: ["🥐", "☕"] };
const size = { width: 512, height: 512 };
const background = { r: 0, g: 100, b: 0, alpha: 0.5 };

const picture = (lossless: boolean) =>
  sharp({ create: { ...size, channels: 4, background } })
    .webp({ lossless })
    .toBuffer();
const opaque = () =>
  sharp({ create: { ...size, channels: 3, background: "green" } })
    .webp()
    .toBuffer();
const animation = async () => {
  const frames = Buffer.alloc(512 * 1024 * 4, 90).fill(200, 512 * 512 * 4);
  const raw = { width: 512, height: 1024, channels: 4, pageHeight: 512 } as const;
  return sharp(frames, { raw }).webp({ loop: 0 }).toBuffer();
};

test.each([
  ["a transparent picture", () => picture(false), { is_animated: false }, true],
  ["a lossless transparent picture", () => picture(true), { is_animated: false }, true],
  ["an opaque picture", opaque, { is_animated: false }, false],
  ["an animation", animation, { is_animated: true }, true],
])("%s carries its pack, also a new one, and stays what it is", async (_, make, facts, hasAlpha) => {
  const before = await make();
  const once = writeStickerPack(before, { pack_name: "Old" }, size);
  const sticker = writeStickerPack(once, pack, size);
  expect(await readPicture(sticker)).toMatchObject({ ...size, ...facts });
  const { exif, hasAlpha: found } = await sharp(sticker, { animated: true }).metadata();
  expect(found).toBe(hasAlpha);
  const text = exif?.toString() ?? "";
  expect(JSON.parse(text.slice(text.indexOf("{")))).toEqual({
    "sticker-pack-id": expect.stringMatching(/^[0-9a-f]{64}$/),
    "sticker-pack-name": "Shop",
    "sticker-pack-publisher": "Padaria Real",
    emojis: ["🥐", "☕"],
  });
  expect(sticker.toString("latin1").split("EXIF")).toHaveLength(2);
  const pixels = (bytes: Buffer) => sharp(bytes, { animated: true }).raw().toBuffer();
  expect((await pixels(sticker)).equals(await pixels(before))).toBe(true);
});
