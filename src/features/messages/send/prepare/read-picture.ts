import type { UploadedFile } from "../../../../platform/http/route.ts";
import type { OutgoingRequest, SafeFetch } from "../../../../platform/outgoing/safe-fetch.ts";
import { storeMediaInput } from "./read-media.ts";

/** A picture as a URL, base64, a data URI, or an uploaded form file. */
export type PictureInput = string | UploadedFile;

export interface PictureSource {
  outgoing: SafeFetch;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** Reads a picture into memory. Throws the errors of `readMedia`, which name `field`. */
export async function readPicture(
  { outgoing }: PictureSource,
  tenant: OutgoingRequest["tenant"],
  field: string,
  picture: PictureInput,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const input = typeof picture === "string" ? { base64: picture } : { file: picture };
  await storeMediaInput(
    {
      async write(piece) {
        pieces.push(piece);
      },
    },
    input,
    { outgoing, tenant, field, maxBytes: MAX_BYTES },
  );
  return Buffer.concat(pieces);
}
