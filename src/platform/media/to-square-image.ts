import type { Metadata, Sharp } from "sharp";
import { GatewayError, invalidField } from "../gateway-error.ts";
import { Semaphore } from "../limits/semaphore.ts";
import { openImage } from "./open-image.ts";
import type { PictureFacts } from "./read-picture.ts";

const SIDE = 640;
const STICKER_SIDE = 512;
const STICKER_BYTES = 100 * 1024;
const ANIMATED_STICKER_BYTES = 500 * 1024;
const MAX_PIXELS = 50_000_000;
const BYTES_PER_PIXEL = 4;
/** The network's limit for a picture. */
const MAX_PICTURE_BYTES = 16 * 1024 * 1024;
const MAX_SECONDS = 20;
const QUALITY = 85;
/** Of a sticker: each is tried until the file is small enough. */
const STICKER_QUALITIES = [QUALITY, 40, 10];
/** With the default of 4, an animation takes half as long again, for little. */
const STICKER_EFFORT = 2;

/** A decoded image is much larger than its file, so the largest image is processed alone. Accounts take turns. */
const memory = new Semaphore({ limit: MAX_PIXELS * BYTES_PER_PIXEL });

/**
 * The centre of an image as a JPEG of 640 x 640 pixels, the format of profile and group pictures. Throws
 * VALIDATION_ERROR, naming `field`, if it is no image or has more than 50 million pixels.
 */
export function toSquareImage(bytes: Uint8Array, field: string): Promise<Buffer> {
  return convert(bytes, field, (image) =>
    image.resize(SIDE, SIDE, { fit: "cover" }).flatten({ background: "white" }).jpeg({ quality: QUALITY }),
  );
}

/** Whether a WebP picture of so many bytes is one that phones show as a sticker. */
export function isSticker({ width, height, is_animated }: PictureFacts, bytes: number): boolean {
  return width === STICKER_SIDE && height === STICKER_SIDE && bytes <= maxStickerBytes(is_animated);
}

/**
 * The whole image as a sticker: WebP, 512 x 512 pixels, transparent background, at most 100 KB. A GIF or WebP stays
 * animated, with at most 500 KB and 190 frames. Throws like `toSquareImage`, and if the sticker would be larger.
 */
export async function toSticker(bytes: Uint8Array, field: string, account_id: number): Promise<Buffer> {
  const { format, width, height, pages = 1 } = await readMetadata(bytes, field);
  const isAnimated = pages > 1 && (format === "gif" || format === "webp");
  const frames = isAnimated ? pages : 1;
  const mostFrames = Math.floor(MAX_PIXELS / Math.max(width * height, STICKER_SIDE ** 2));
  if (frames > mostFrames)
    throw invalidField(
      field,
      `has ${frames} frames. Send an animation of at most ${mostFrames} frames`,
      "too_many",
      { max: mostFrames },
    );
  const most = maxStickerBytes(isAnimated);
  for (const quality of STICKER_QUALITIES) {
    const change = (image: Sharp) =>
      image
        .resize(STICKER_SIDE, STICKER_SIDE, { fit: "contain", background: "transparent" })
        .webp({ quality, alphaQuality: quality, effort: STICKER_EFFORT });
    const sticker = await convert(bytes, field, change, { account_id, frames });
    if (sticker.byteLength <= most) return sticker;
  }
  const cure = isAnimated ? "a shorter animation" : "a picture with less detail";
  throw invalidField(field, `has more than ${most / 1024} KB as a sticker. Send ${cure}`, "too_large", {
    max: most / 1024,
    unit: "KB",
  });
}

function maxStickerBytes(isAnimated: boolean): number {
  return isAnimated ? ANIMATED_STICKER_BYTES : STICKER_BYTES;
}

/**
 * The image in a format that every phone shows: PNG if it is transparent, otherwise JPEG. Undefined if it cannot be
 * read, is too large, or has pages, of which a picture would show only the first.
 */
export async function toPicture(
  bytes: Uint8Array,
  account_id: number,
): Promise<{ bytes: Buffer; mime_type: string } | undefined> {
  try {
    const { format, pages = 1, hasAlpha } = await readMetadata(bytes, "file");
    if (format === "tiff" && pages > 1) return undefined;
    const png = hasAlpha && (await convert(bytes, "file", (image) => image.png(), { account_id }));
    if (png && png.byteLength <= MAX_PICTURE_BYTES) return { bytes: png, mime_type: "image/png" };
    const jpeg = (image: Sharp) => image.flatten({ background: "white" }).jpeg({ quality: QUALITY });
    return { bytes: await convert(bytes, "file", jpeg, { account_id }), mime_type: "image/jpeg" };
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

interface ConvertOptions {
  account_id?: number;
  /** More than one: converts all of them. */
  frames?: number;
}

async function convert(
  bytes: Uint8Array,
  field: string,
  change: (image: Sharp) => Sharp,
  { account_id, frames = 1 }: ConvertOptions = {},
): Promise<Buffer> {
  const { width, height } = await readMetadata(bytes, field);
  const image = await openImage(bytes, MAX_PIXELS, frames > 1);
  const work = () =>
    change(image.timeout({ seconds: MAX_SECONDS }).autoOrient())
      .toBuffer()
      .catch((cause: unknown) => {
        throw notAnImage(field, cause);
      });
  const pixels = frames * Math.max(width * height, STICKER_SIDE ** 2);
  return memory.use(work, { key: account_id, weight: pixels * BYTES_PER_PIXEL });
}

async function readMetadata(bytes: Uint8Array, field: string): Promise<Metadata> {
  if (bytes.byteLength === 0) throw notAnImage(field);
  const image = await openImage(bytes, MAX_PIXELS);
  const metadata = await image.metadata().catch((cause: unknown) => {
    throw /pixel limit/i.test(String(cause)) ? tooManyPixels(field) : notAnImage(field, cause);
  });
  if (metadata.width * metadata.height > MAX_PIXELS) throw tooManyPixels(field);
  return metadata;
}

function tooManyPixels(field: string) {
  return invalidField(field, `has more than ${MAX_PIXELS / 1_000_000} million pixels`, "too_large", {
    max: MAX_PIXELS / 1_000_000,
    unit: "MP",
  });
}

function notAnImage(field: string, cause?: unknown) {
  const refusal = invalidField(field, "is not an image that can be read", "unreadable_file");
  refusal.cause = cause;
  return refusal;
}
