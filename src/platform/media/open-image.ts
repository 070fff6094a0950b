import type { Sharp } from "sharp";

/** Loaders of JPEG, PNG, WebP, GIF, TIFF and AVIF. No other library, such as that of SVG, reads a byte of an image. */
const LOADERS = ["Jpeg", "Png", "Webp", "Nsgif", "Tiff", "Heif"].map(
  (name) => `VipsForeignLoad${name}Buffer`,
);

let loaded: ReturnType<typeof loadLibrary> | undefined;

/**
 * Opens an image, or all frames of an animated one. Loads the image library at the first image, since it takes 20 MB.
 */
export async function openImage(bytes: Uint8Array, maxPixels: number, animated = false): Promise<Sharp> {
  return (await library())(bytes, { limitInputPixels: maxPixels, animated });
}

/** Opens decoded pixels: red, green, blue and opacity, a byte each. */
export async function openPixels(picture: {
  width: number;
  height: number;
  data: Uint8Array;
}): Promise<Sharp> {
  const { width, height, data } = picture;
  return (await library())(data, { raw: { width, height, channels: 4 } });
}

function library() {
  loaded ??= loadLibrary();
  return loaded;
}

async function loadLibrary() {
  const { default: sharp } = await import("sharp");
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({ operation: LOADERS });
  return sharp;
}
