import { type MediaType as BaileysMediaType, type proto, toNumber } from "baileys";
import type { MediaType } from "../../driver.ts";

/** The file of any kind of message in Baileys. */
export type MediaProto = Partial<
  proto.Message.IImageMessage &
    proto.Message.IVideoMessage &
    proto.Message.IAudioMessage &
    proto.Message.IDocumentMessage &
    Pick<proto.Message.IStickerMessage, "isAnimated" | "isLottie">
> & { caption?: string | null };

/** Location and keys of a file; plain data, so that it can be stored. */
export interface WhatsAppMediaRef {
  type: MediaType | "md-app-state";
  /** Only for files that we uploaded; never fetched. */
  url?: string;
  path: string;
  key: string;
  sha256: string;
  sealed_sha256: string;
  size: number;
  /** Seconds since the epoch. */
  key_at?: number;
  /** The network's key of the message; needed to ask the phones for the file again. */
  message?: StoredMessageKey;
}

export interface StoredMessageKey {
  remoteJid: string;
  id: string;
  fromMe: boolean;
  participant?: string;
}

export function toMediaRef(file: MediaProto, type: WhatsAppMediaRef["type"]): WhatsAppMediaRef {
  return {
    type,
    path: file.directPath ?? "",
    key: base64(file.mediaKey),
    sha256: base64(file.fileSha256),
    sealed_sha256: base64(file.fileEncSha256),
    size: toNumber(file.fileLength),
    ...(file.mediaKeyTimestamp && { key_at: toNumber(file.mediaKeyTimestamp) }),
  };
}

/** The message fields of a file that was uploaded before. */
export function fromMediaRef(ref: WhatsAppMediaRef): MediaProto {
  return {
    ...(ref.url !== undefined && { url: ref.url }),
    directPath: ref.path,
    mediaKey: Buffer.from(ref.key, "base64"),
    fileSha256: Buffer.from(ref.sha256, "base64"),
    fileEncSha256: Buffer.from(ref.sealed_sha256, "base64"),
    fileLength: ref.size,
    ...(ref.key_at !== undefined && { mediaKeyTimestamp: ref.key_at }),
  };
}

export function isMediaRef(ref: unknown): ref is WhatsAppMediaRef {
  return typeof ref === "object" && ref !== null && "key" in ref && "path" in ref && "sha256" in ref;
}

/** Baileys' name for a kind of file. */
export function toBaileysMediaType(type: WhatsAppMediaRef["type"]): BaileysMediaType {
  return type;
}

function base64(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString("base64");
}
