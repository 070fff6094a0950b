import { prepareWAMessageMedia, type WASocket } from "baileys";
import type { MediaContent } from "../../driver.ts";
import { silentBaileysLogger } from "../baileys-fixes/silent-baileys-logger.ts";
import { type MediaProto, toMediaRef, type WhatsAppMediaRef } from "./whatsapp-media-ref.ts";

const EMPTY = new Uint8Array();

/** Uploads a file for its recipients; returns the part of the message that refers to it. */
export async function uploadMedia(
  content: MediaContent,
  sock: Pick<WASocket, "waUploadToServer">,
  options: RequestInit,
): Promise<{ file: MediaProto; ref: WhatsAppMediaRef }> {
  if (!content.bytes) throw new Error("A media message needs its bytes.");
  const kind = content.media_type === "ptt" ? "audio" : content.media_type;
  const prepared = await prepareWAMessageMedia(
    {
      [kind]: Buffer.from(content.bytes),
      mimetype: content.mime_type,
      // Baileys runs ffmpeg and its own decoder for missing fields, without resource limits.
      ...(content.media_type === "video" && { jpegThumbnail: EMPTY }),
      ...(content.media_type === "ptt" && { ptt: true, waveform: EMPTY }),
      ...(content.seconds !== undefined && { seconds: content.seconds }),
    } as unknown as Parameters<typeof prepareWAMessageMedia>[0],
    { upload: sock.waUploadToServer, logger: silentBaileysLogger, options },
  );
  const file = prepared[`${kind}Message`] as MediaProto;
  const ref = toMediaRef(file, content.media_type);
  return { file, ref: { ...ref, ...(file.url && { url: file.url }) } };
}
