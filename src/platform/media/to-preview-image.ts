import { openImage } from "./open-image.ts";

const SIDE = 192;
const MAX_PIXELS = 12_000_000;
const MAX_SECONDS = 2;
const MAX_BYTES = 16_384;
const FORMATS: ReadonlySet<string> = new Set(["jpeg", "png", "webp", "gif"]);

/** A small JPEG of an image, at most 16 KiB, for a preview; undefined if it is no image or too large. */
export async function toPreviewImage(bytes: Uint8Array): Promise<Buffer | undefined> {
  try {
    const { format, width, height } = await (await openImage(bytes, MAX_PIXELS)).metadata();
    if (!FORMATS.has(format) || width * height > MAX_PIXELS) return undefined;
    const source = await openImage(bytes, MAX_PIXELS);
    const image = await source
      .timeout({ seconds: MAX_SECONDS })
      .autoOrient()
      .resize(SIDE, SIDE, { fit: "inside", withoutEnlargement: true })
      .flatten({ background: "white" })
      .jpeg({ quality: 70 })
      .toBuffer();
    return image.byteLength <= MAX_BYTES ? image : undefined;
  } catch {
    return undefined;
  }
}
