import { type MediaType as LibraryMediaType, type proto, toNumber } from "baileys";
import type { MediaType } from "../../driver.ts";

/** Any of the client library's files. */
export type MediaProto = Partial<
  proto.Message.IImageMessage &
    proto.Message.IVideoMessage &
    proto.Message.IAudioMessage &
    proto.Message.IDocumentMessage
> & { caption?: string | null };

/** Where a file is and how it is opened; plain data, so that it can be kept for later. */
export interface WhatsAppMediaRef {
  type: MediaType;
  /** Of a file that we have uploaded; never fetched. */
  url?: string;
  path: string;
  key: string;
  sha256: string;
  sealed_sha256: string;
  size: number;
  /** Seconds since the epoch. */
  key_at?: number;
  /** The message that it came with, as the network names it: by this the phones are asked for the file again. */
  message?: StoredMessageKey;
}

export interface StoredMessageKey {
  remoteJid: string;
  id: string;
  fromMe: boolean;
  participant?: string;
}

export function toMediaRef(file: MediaProto, type: MediaType): WhatsAppMediaRef {
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

/** The fields of a file that was uploaded before. */
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

/** How the client library calls the kinds of files. */
export function toBaileysMediaType(type: MediaType): LibraryMediaType {
  return type;
}

function base64(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString("base64");
}
