import type { Jid, MessageId } from "./identity.ts";

export type MediaType = "image" | "video" | "audio" | "document" | "sticker" | "ptt";

export interface TextContent {
  kind: "text";
  text: string;
  link_preview?: boolean;
}

export interface MediaContent {
  kind: "media";
  media_type: MediaType;
  mime_type: string;
  file_name?: string;
  caption?: string;
  /** Length in bytes. */
  size: number;
  /** Hex SHA-256 of the file. */
  sha256?: string;
  seconds?: number;
  /** Outbound: the file itself. */
  bytes?: Uint8Array;
  /** Inbound: what `downloadMedia` needs to fetch the file; plain data that only the driver reads. */
  ref?: unknown;
}

export interface LocationContent {
  kind: "location";
  latitude: number;
  longitude: number;
  name?: string;
  address?: string;
}

export interface ContactContent {
  kind: "contact";
  name: string;
  /** Digits only. */
  phone: string;
  vcard?: string;
}

/** The message that a reply quotes. */
export interface Quoted {
  id: MessageId;
  from_me: boolean;
  sender?: Jid;
  text?: string;
}

/** What a message says, one union by `kind`; `quoted` and `mentions` go with any of them. */
export type Content = (TextContent | MediaContent | LocationContent | ContactContent) & {
  quoted?: Quoted;
  mentions?: Jid[];
};
