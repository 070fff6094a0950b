import type { Identity, Jid, MessageId } from "./identity.ts";

export type MediaType = "image" | "video" | "audio" | "document" | "sticker" | "ptt";

export interface TextContent {
  kind: "text";
  text: string;
  link_preview?: boolean;
  /** Outbound: what is shown of the first link. */
  preview?: LinkPreview;
  /** Inbound: what was chosen, where the text is only what the choice is called. */
  choice?: ChoiceContent;
  /** Inbound: the group that the recipient is invited into. */
  invite?: GroupInvite;
}

export interface LinkPreview {
  /** As the text has it. */
  url: string;
  title: string;
  description?: string;
  /** A small JPEG in base64. */
  thumbnail?: string;
}

/** An answer to buttons, a list or a form. */
export interface ChoiceContent {
  kind: "button" | "template_button" | "list" | "flow";
  /** Chosen by whoever offered it. */
  id: string | null;
  /** Of a form. */
  name: string | null;
  /** What the form was filled in with: JSON as it came. */
  params: string | null;
}

export interface GroupInvite {
  group: Jid;
  code: string;
  name: string | null;
  /** ISO 8601. */
  expires_at: string | null;
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
  /** Of a voice note: 64 levels from 0 to 100. */
  waveform?: number[];
  /** Of a video or a sticker, in pixels. */
  width?: number;
  height?: number;
  /** Of a video: a small JPEG in base64. */
  thumbnail?: string;
  /** A video that plays again and again without sound. */
  gif_playback?: boolean;
  /** A sticker that moves. */
  is_animated?: boolean;
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

export interface ContactCard {
  name: string;
  /** Digits only. */
  phone: string;
  vcard?: string;
}

export interface ContactContent extends ContactCard {
  kind: "contact";
  /** Inbound: the other cards of the message. */
  more?: ContactCard[];
}

/** The message that a reply quotes. */
export interface QuotedMessage {
  id: MessageId;
  from_me: boolean;
  sender?: Jid;
  /** Its text, or the caption of its file, cut to a length that clients show. */
  text?: string;
  /** What it is, unless it is a text. */
  content?: QuotedContent;
  /** The chat it is in, when the reply goes to another one. */
  chat?: Jid;
}

/** A quoted file is described without its address and its key, a quoted card without its vCard. */
export type QuotedContent =
  | Omit<MediaContent, "bytes" | "ref" | "caption">
  | LocationContent
  | Omit<ContactContent, "vcard" | "more">;

export interface EditOptions {
  id: MessageId;
  /** The text is the caption of such a file. */
  media_type?: MediaType;
  /** People whom the text names. */
  mentions?: Jid[];
}

/** What goes with any content. */
export interface ContentContext {
  quoted?: QuotedMessage;
  mentions?: Jid[];
  /** Inbound: the people in `mentions` under all their addresses, as the text may name either. */
  mentioned?: Mentioned[];
  /** Inbound: from where it was forwarded; the network's count of how often, which it stops at some number. */
  forwarded?: { score: number };
  /** Inbound: the advertisement that led to it. */
  ad?: AdReferral;
}

export type Mentioned = Pick<Identity, "jid" | "lid" | "phone">;

/** A click on an advertisement that opens a chat. */
export interface AdReferral {
  source_type: string | null;
  source_id: string | null;
  source_url: string | null;
  source_app: string | null;
  entry_point: string | null;
  title: string | null;
  body: string | null;
  media_url: string | null;
  thumbnail_url: string | null;
  /** Meta's id of the click. */
  ctwa_clid: string | null;
  ref: string | null;
}

/** What a message says, one union by `kind`. */
export type Content = (TextContent | MediaContent | LocationContent | ContactContent) & ContentContext;
