import type { Content, MediaContent } from "../../src/network/driver.ts";

export const text = (words: string): Content => ({ kind: "text", text: words });

export const DOT = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);
export const PICTURE: MediaContent = {
  kind: "media",
  media_type: "image",
  mime_type: "image/png",
  file_name: "dot.png",
  caption: "A dot",
  size: DOT.byteLength,
  bytes: DOT,
};
