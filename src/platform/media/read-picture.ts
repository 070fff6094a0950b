import { openImage } from "./open-image.ts";

/** Nothing is decoded, so only the size that is told is limited. */
const MAX_PIXELS = 50_000_000;

export interface PictureFacts {
  width: number;
  height: number;
  is_animated: boolean;
}

/** The size of a picture, and whether it has several frames; undefined if it is unreadable or too large. */
export async function readPicture(bytes: Uint8Array): Promise<PictureFacts | undefined> {
  try {
    const { width, height, pages = 1 } = await (await openImage(bytes, MAX_PIXELS)).metadata();
    return width * height > MAX_PIXELS ? undefined : { width, height, is_animated: pages > 1 };
  } catch {
    return undefined;
  }
}
