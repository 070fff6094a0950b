import sharp, { type Metadata } from "sharp";
import { invalidField } from "../gateway-error.ts";
import { Semaphore } from "../semaphore.ts";

const SIDE = 640;
const STICKER_SIDE = 512;
const MAX_PIXELS = 50_000_000;
const BYTES_PER_PIXEL = 4;
const MAX_SECONDS = 20;
const QUALITY = 85;
const FORMATS: ReadonlySet<string> = new Set(["jpeg", "png", "webp", "gif", "tiff", "heif"]);

/** A decoded picture is much larger than its file: the largest one goes alone. */
const memory = new Semaphore(MAX_PIXELS * BYTES_PER_PIXEL);

/**
 * The middle of a picture as a JPEG square of 640 pixels, as people and groups show theirs. Throws VALIDATION_ERROR, naming
 * `field`, for what is no picture or has more than 50 million pixels.
 */
export async function toSquareImage(bytes: Uint8Array, field: string): Promise<Buffer> {
  const { width, height } = await readMetadata(bytes, field);
  return memory.use(width * height * BYTES_PER_PIXEL, () =>
    sharp(bytes, { limitInputPixels: MAX_PIXELS })
      .timeout({ seconds: MAX_SECONDS })
      .autoOrient()
      .resize(SIDE, SIDE, { fit: "cover" })
      .flatten({ background: "white" })
      .jpeg({ quality: QUALITY })
      .toBuffer()
      .catch((cause: unknown) => {
        throw notAnImage(field, cause);
      }),
  );
}

/** A picture as a sticker: WebP, 512 pixels square, whole, on nothing. Throws as `toSquareImage` does. */
export async function toSticker(bytes: Uint8Array, field: string): Promise<Buffer> {
  const { width, height } = await readMetadata(bytes, field);
  return memory.use(width * height * BYTES_PER_PIXEL, () =>
    sharp(bytes, { limitInputPixels: MAX_PIXELS })
      .timeout({ seconds: MAX_SECONDS })
      .autoOrient()
      .resize(STICKER_SIDE, STICKER_SIDE, { fit: "contain", background: "transparent" })
      .webp({ quality: QUALITY })
      .toBuffer()
      .catch((cause: unknown) => {
        throw notAnImage(field, cause);
      }),
  );
}

/** Whether a picture has several frames; false for what cannot be read. */
export async function isAnimated(bytes: Uint8Array): Promise<boolean> {
  const metadata = await sharp(bytes, { limitInputPixels: MAX_PIXELS, animated: true })
    .metadata()
    .catch(() => undefined);
  return (metadata?.pages ?? 1) > 1;
}

async function readMetadata(bytes: Uint8Array, field: string): Promise<Metadata> {
  if (bytes.byteLength === 0) throw notAnImage(field);
  const metadata = await sharp(bytes, { limitInputPixels: MAX_PIXELS })
    .metadata()
    .catch((cause: unknown) => {
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
