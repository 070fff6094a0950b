import type { Sharp } from "sharp";

/** Opens an image. Loads the image library at the first image, since it takes 20 MB. */
export async function openImage(bytes: Uint8Array, maxPixels: number): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  return sharp(bytes, { limitInputPixels: maxPixels });
}
