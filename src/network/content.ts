import type { Identity, Jid, MessageId } from "./identity.ts";

export type MediaType = "image" | "video" | "audio" | "document" | "sticker" | "ptt";

export interface TextContent {
  kind: "text";
  text: string;
  link_preview?: boolean;
  /** Outbound: preview of the first link. */
  preview?: LinkPreview;
  /** Inbound: the choice; the text is only its title. */
  choice?: ChoiceContent;
  /** Inbound: the group to which the recipient is invited. */
  invite?: GroupInvite;
  /** The poll of which the text is the question and the options. */
  poll?: PollContent;
}

export interface PollContent {
  question: string;
  /** In the order in which phones show them; other people may add some. */
  options: PollOption[];
  /** How many options a person may choose; 0: any number. */
  selectable_count: number;
  /** Phones show the votes without the names of the voters. */
  hide_voters?: true;
  /** ISO 8601. */
  ends_at?: string;
}

export interface PollOption {
  /** The SHA-256 of the text, by which votes name the option; in hex. */
  id: string;
  text: string;
}

export interface LinkPreview {
  /** The URL as written in the text. */
  url: string;
  title: string;
  description?: string;
  /** A small JPEG in base64. */
  thumbnail?: string;
}

/** A reply to buttons, a list or a form. */
export interface ChoiceContent {
  kind: "button" | "template_button" | "list" | "flow";
  /** Defined by the sender of the choices. */
  id: string | null;
  /** Of a form. */
  name: string | null;
  /** The values of the form, as the JSON that was received. */
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
  /** A video that loops without sound. */
  gif_playback?: boolean;
  /** A round video note. */
  ptv?: boolean;
  /** Phones show or play it only once. */
  view_once?: boolean;
  album?: AlbumItem;
  /** A sticker that moves. */
  is_animated?: boolean;
  /** Of a PDF. */
  page_count?: number;
  /** Outbound: the file itself. */
  bytes?: Uint8Array;
  /** Inbound: the data from which `downloadMedia` fetches the file; plain data that only the driver reads. */
  ref?: unknown;
}

/** A file that phones show together with others. */
export interface AlbumItem {
  /** Of the message that holds the items together; the log does not have it. */
  id: MessageId;
  /** From 0, as the sender says. */
  position?: number;
  /** Outbound: how many of each the album has. */
  images?: number;
  videos?: number;
  /** Outbound, with the first item: the messages of the others. */
  others?: MessageId[];
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
  /** The other cards of the message. The log stores it under this name. */
  more?: ContactCard[];
}

/**
 * Inbound: content that the gateway cannot read. `masked`: a code that only the phone itself shows. `view_once`: a file
 * that linked devices do not get. `undecryptable`: the resent message replaces it.
 */
export interface UnsupportedContent {
  kind: "unsupported";
  /** The network's name of the content, such as `requestPhoneNumber`. */
  name: string;
  reason: "unknown_kind" | "masked" | "view_once" | "undecryptable";
}

/** The message that a reply quotes. */
export interface QuotedMessage {
  id: MessageId;
  from_me: boolean;
  sender?: Jid;
  /** Its text or the caption of its file, truncated to the length that clients show. */
  text?: string;
  /** Its kind of content, unless it is a text. */
  content?: QuotedContent;
  /** Its chat, if the reply goes to another one. */
  chat?: Jid;
}

/** A quoted file has no URL and no key; a quoted card has no vCard. */
export type QuotedContent =
  | Omit<MediaContent, "bytes" | "ref" | "caption">
  | LocationContent
  | Omit<ContactContent, "vcard" | "more">;

export interface EditOptions {
  id: MessageId;
  /** If set, the text is the caption of such a file. */
  media_type?: MediaType;
  /** People mentioned in the text. */
  mentions?: Jid[];
}

/** Fields common to all kinds of content. */
export interface ContentContext {
  quoted?: QuotedMessage;
  mentions?: Jid[];
  /** Inbound: the people in `mentions` with all their addresses, because the text may use either one. */
  mentioned?: Mentioned[];
  /** Inbound: the source and the network's count of forwards, which stops at a maximum. */
  forwarded?: { score: number };
  /** Inbound: the advertisement from which the chat was opened. */
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

/** The content of a story; a text has a background (0xAARRGGBB) and one of the phone's fonts by number. */
export type StatusContent = (TextContent & { background?: number; font?: number }) | MediaContent;

/** The content of a message: one union, by `kind`. */
export type Content = (TextContent | MediaContent | LocationContent | ContactContent) & ContentContext;

/** The content of a message that the network reports. */
export type InboundContent = Content | (UnsupportedContent & ContentContext);
