import type { Sharp } from "sharp";

/** Loaders of JPEG, PNG, WebP, GIF, TIFF and AVIF. No other library, such as that of SVG, reads a byte of an image. */
const LOADERS = ["Jpeg", "Png", "Webp", "Nsgif", "Tiff", "Heif"].map(
  (name) => `VipsForeignLoad${name}Buffer`,
);

let loaded: ReturnType<typeof loadLibrary> | undefined;

/** Opens an image. Loads the image library at the first image, since it takes 20 MB. */
export async function openImage(bytes: Uint8Array, maxPixels: number): Promise<Sharp> {
  loaded ??= loadLibrary();
  const sharp = await loaded;
  return sharp(bytes, { limitInputPixels: maxPixels });
}

async function loadLibrary() {
  const { default: sharp } = await import("sharp");
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({ operation: LOADERS });
  return sharp;
}
