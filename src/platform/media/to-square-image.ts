import type { Metadata } from "sharp";
import { invalidField } from "../gateway-error.ts";
import { Semaphore } from "../limits/semaphore.ts";
import { openImage } from "./open-image.ts";

const SIDE = 640;
const STICKER_SIDE = 512;
const MAX_PIXELS = 50_000_000;
const BYTES_PER_PIXEL = 4;
const MAX_SECONDS = 20;
const QUALITY = 85;
const FORMATS: ReadonlySet<string> = new Set(["jpeg", "png", "webp", "gif", "tiff", "heif"]);

/** A decoded image is much larger than its file, so the largest image is processed alone. */
const memory = new Semaphore({ limit: MAX_PIXELS * BYTES_PER_PIXEL });

/**
 * The centre of an image as a JPEG of 640 x 640 pixels, the format of profile and group pictures. Throws
 * VALIDATION_ERROR, naming `field`, if it is no image or has more than 50 million pixels.
 */
export async function toSquareImage(bytes: Uint8Array, field: string): Promise<Buffer> {
  const { width, height } = await readMetadata(bytes, field);
  const image = await openImage(bytes, MAX_PIXELS);
  const convert = () =>
    image
      .timeout({ seconds: MAX_SECONDS })
      .autoOrient()
      .resize(SIDE, SIDE, { fit: "cover" })
      .flatten({ background: "white" })
      .jpeg({ quality: QUALITY })
      .toBuffer()
      .catch((cause: unknown) => {
        throw notAnImage(field, cause);
      });
  return memory.use(convert, { weight: width * height * BYTES_PER_PIXEL });
}

/**
 * The whole image as a sticker: WebP, 512 x 512 pixels, transparent background. Throws like `toSquareImage`.
 */
export async function toSticker(bytes: Uint8Array, field: string): Promise<Buffer> {
  const { width, height } = await readMetadata(bytes, field);
  const image = await openImage(bytes, MAX_PIXELS);
  const convert = () =>
    image
      .timeout({ seconds: MAX_SECONDS })
      .autoOrient()
      .resize(STICKER_SIDE, STICKER_SIDE, { fit: "contain", background: "transparent" })
      .webp({ quality: QUALITY })
      .toBuffer()
      .catch((cause: unknown) => {
        throw notAnImage(field, cause);
      });
  return memory.use(convert, { weight: width * height * BYTES_PER_PIXEL });
}

async function readMetadata(bytes: Uint8Array, field: string): Promise<Metadata> {
  if (bytes.byteLength === 0) throw notAnImage(field);
  const image = await openImage(bytes, MAX_PIXELS);
  const metadata = await image.metadata().catch((cause: unknown) => {
    throw /pixel limit/i.test(String(cause)) ? tooManyPixels(field) : notAnImage(field, cause);
  });
  if (!FORMATS.has(metadata.format)) throw notAnImage(field);
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
