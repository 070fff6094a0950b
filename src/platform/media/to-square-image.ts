import type { Metadata, Sharp } from "sharp";
import { GatewayError, invalidField } from "../gateway-error.ts";
import { Semaphore } from "../limits/semaphore.ts";
import { openImage } from "./open-image.ts";

const SIDE = 640;
const STICKER_SIDE = 512;
const MAX_PIXELS = 50_000_000;
const BYTES_PER_PIXEL = 4;
/** The network's limit for a picture. */
const MAX_PICTURE_BYTES = 16 * 1024 * 1024;
const MAX_SECONDS = 20;
const QUALITY = 85;

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

/**
 * The whole image as a sticker: WebP, 512 x 512 pixels, transparent background. Throws like `toSquareImage`.
 */
export function toSticker(bytes: Uint8Array, field: string, account_id: number): Promise<Buffer> {
  const change = (image: Sharp) =>
    image
      .resize(STICKER_SIDE, STICKER_SIDE, { fit: "contain", background: "transparent" })
      .webp({ quality: QUALITY });
  return convert(bytes, field, change, account_id);
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
    const png = hasAlpha && (await convert(bytes, "file", (image) => image.png(), account_id));
    if (png && png.byteLength <= MAX_PICTURE_BYTES) return { bytes: png, mime_type: "image/png" };
    const jpeg = (image: Sharp) => image.flatten({ background: "white" }).jpeg({ quality: QUALITY });
    return { bytes: await convert(bytes, "file", jpeg, account_id), mime_type: "image/jpeg" };
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

async function convert(
  bytes: Uint8Array,
  field: string,
  change: (image: Sharp) => Sharp,
  account_id?: number,
): Promise<Buffer> {
  const { width, height } = await readMetadata(bytes, field);
  const image = await openImage(bytes, MAX_PIXELS);
  const work = () =>
    change(image.timeout({ seconds: MAX_SECONDS }).autoOrient())
      .toBuffer()
      .catch((cause: unknown) => {
        throw notAnImage(field, cause);
      });
  return memory.use(work, { key: account_id, weight: width * height * BYTES_PER_PIXEL });
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
  return invalidField(field, `has more than ${MAX_PIXELS / 1_000_000} million pixels`);
}

function notAnImage(field: string, cause?: unknown) {
  const refusal = invalidField(field, "is not an image that can be read");
  refusal.cause = cause;
  return refusal;
}
