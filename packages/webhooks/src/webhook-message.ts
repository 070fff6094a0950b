// Written by `npm run generate` from the contract.

/** The message in events about a message. */
export type WebhookMessage = {
  id: number;
  message_id: string;
  direction: "inbound" | "outbound";
  from_me: boolean;
  jid: string;
  lid: string | null;
  phone: string | null;
  chat_type: "contact" | "group";
  is_group: boolean;
  sender: Sender | null;
  type: string;
  text: string | null;
  caption: string | null;
  quoted: QuotedMessage | null;
  mentions: Array<string>;
  /** The people in `mentions` with all known addresses. The text contains one of the addresses after an `@`. */
  mentioned: Array<Person>;
  media: MessageFile | null;
  /** Present if phones show the file in an album. */
  album?: AlbumItem;
  location: unknown;
  contacts: unknown;
  /** A reply to buttons, a list or a form. */
  choice: Choice | null;
  group_invite: GroupInvite | null;
  /** Present if the message is a poll; its text has the same words. */
  poll?: Poll;
  /** Present if `type` is `unsupported`: phones show the message, and the gateway cannot read it. */
  unsupported: UnsupportedContent | null;
  /** The advertisement that led the contact to write. */
  ad: AdReferral | null;
  is_forwarded: boolean;
  /** How often the message was forwarded, as the network counts. From 5, phones say so. */
  forwarding_score: number;
  status: MessageStatus;
  origin: "api" | "panel" | "campaign" | "inbox" | "chatbot" | "phone" | "contact";
  timestamp: string;
  track_id: string | null;
  /** When a scheduled message goes out, or was to go out. */
  send_at: string | null;
  edited_at: string | null;
  /** When the message was deleted for everyone; its text stays in this log. */
  deleted_at: string | null;
  /** The latest reaction of each person, oldest first; at most 1,000. */
  reactions: Array<MessageReaction>;
  /** Until when the message is pinned in its chat; null: it is not. */
  pinned_until: string | null;
  /** Whether the phone has starred the message. */
  starred: boolean;
};

type AdReferral = {
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
};

type AlbumItem = {
  /** The same for all items. */
  id: string;
  /** From 0; null: the sender does not say it. */
  position: number | null;
};

type Choice = {
  kind: "button" | "template_button" | "list" | "flow";
  /** Of the chosen button or row. */
  id: string | null;
  /** Of a form. */
  name: string | null;
  /** The values of a form: JSON as text, at most 8,192 characters. */
  params: string | null;
};

type GroupInvite = {
  group: string;
  code: string;
  name: string | null;
  expires_at: string | null;
};

type MessageFile = {
  id: string | null;
  /** `remote`: only the network has the file; a download fetches it. */
  status: "pending" | "ready" | "failed" | "expired" | "remote";
  /** Path below the gateway's address; needs a credential of the instance. */
  url: string | null;
  type: string;
  mime_type: string;
  file_name: string | null;
  /** Bytes. */
  size: number;
  sha256: string | null;
  seconds: number | null;
  /** true: phones show or play the file only once. */
  view_once?: boolean;
  /** true: a video that plays in a loop without sound. */
  gif_playback?: boolean;
  /** true: a round video note. */
  ptv?: boolean;
  /** true: a sticker that moves. */
  is_animated?: boolean;
  /** Of a PDF, as its sender says. */
  page_count?: number;
  /** Why a file is `failed` or `expired`. */
  reason: string | null;
};

type MessageReaction = {
  /** One emoji. */
  reaction: string;
  sender: Sender;
  at: string;
};

type MessageStatus = "scheduled" | "pending" | "sent" | "delivered" | "read" | "played" | "failed" | "cancelled" | "received";

type Person = {
  jid: string;
  lid: string | null;
  phone: string | null;
};

type Poll = {
  question: string;
  options: Array<PollOption>;
  /** How many options a person may choose; 0: any number. */
  selectable_count: number;
  hide_voters: boolean;
  ends_at: string | null;
};

type PollOption = {
  /** SHA-256 of the text, in hex. */
  id: string;
  text: string;
};

type QuotedMessage = {
  id: string;
  from_me: boolean;
  sender?: string;
  /** Text or caption of the quoted message, up to 4,096 characters. */
  text?: string;
  /** Chat of the quoted message, if it is in another chat. */
  chat?: string;
  /** Type of the quoted message, unless it is a text. */
  content?: {
    kind: "media" | "location" | "contact";
    media_type?: string;
    mime_type?: string;
    file_name?: string;
    size?: number;
    sha256?: string;
    seconds?: number;
    latitude?: number;
    longitude?: number;
    name?: string;
    address?: string;
    phone?: string;
  };
};

type Sender = {
  jid: string;
  lid: string | null;
  phone: string | null;
  push_name: string | null;
};

type UnsupportedContent = {
  /** The network's name of the content, such as `requestPhoneNumber`. */
  kind: string;
  /** `masked`: a code that only the phone itself shows. `view_once`: a file that linked devices do not get. `undecryptable`: the message that the sender's phone sends again replaces it; only in the log, without an event. `unknown_kind`: anything else. */
  reason: "unknown_kind" | "masked" | "view_once" | "undecryptable";
};
