import { createHash } from "node:crypto";
import { downloadContentFromMessage, prepareWAMessageMedia, type WASocket } from "baileys";
import type { MediaContent } from "../driver.ts";
import { libraryLog } from "./library-log.ts";
import { isMediaRef, libraryType, type MediaProto, type MediaRef, toRef } from "./media-ref.ts";

const GONE = new Set([404, 410]);

export interface Download {
  host(): string | undefined;
  options: RequestInit;
}

/** The bytes of a file; undefined when the network has it no longer. Throws when it is not the file that was sent. */
export async function download(ref: unknown, { host, options }: Download): Promise<Uint8Array | undefined> {
  if (!isMediaRef(ref)) throw new Error("This is no file of this network.");
  const bytes = await fetchFile(ref, host(), options);
  if (!bytes) return undefined;
  const sha256 = createHash("sha256").update(bytes).digest("base64");
  // The client library checks neither the seal nor the hash.
  if (sha256 !== ref.sha256) throw new Error("The file from the network is not the one that was sent.");
  return bytes;
}

async function fetchFile(ref: MediaRef, host: string | undefined, options: RequestInit) {
  const source = { mediaKey: Buffer.from(ref.key, "base64"), directPath: ref.path, url: ref.url };
  try {
    const stream = await downloadContentFromMessage(source, libraryType(ref.type), {
      ...(ref.url === undefined && host !== undefined && { host }),
      options,
    });
    const parts: Uint8Array[] = [];
    for await (const part of stream) parts.push(part as Uint8Array);
    return Buffer.concat(parts);
  } catch (error) {
    if (GONE.has(statusOf(error))) return undefined;
    throw error;
  }
}

function statusOf(error: unknown): number {
  const { output, status } = error as { output?: { statusCode?: number }; status?: number };
  return output?.statusCode ?? status ?? 0;
}

/** Puts a file where its recipients fetch it; answers the part of the message that names it. */
export async function upload(
  content: MediaContent,
  sock: Pick<WASocket, "waUploadToServer">,
  options: RequestInit,
): Promise<{ file: MediaProto; ref: MediaRef }> {
  if (!content.bytes) throw new Error("A media message needs its bytes.");
  const kind = content.media_type === "ptt" ? "audio" : content.media_type;
  const prepared = await prepareWAMessageMedia(
    {
      [kind]: Buffer.from(content.bytes),
      mimetype: content.mime_type,
      ...(content.media_type === "ptt" && { ptt: true }),
      ...(content.seconds !== undefined && { seconds: content.seconds }),
    } as unknown as Parameters<typeof prepareWAMessageMedia>[0],
    { upload: sock.waUploadToServer, logger: libraryLog, options },
  );
  const file = prepared[`${kind}Message`] as MediaProto;
  return { file, ref: toRef(file, content.media_type) };
}
