import type { SignedAssertion } from "./protocol/authenticator.ts";
import type { Addressing } from "./protocol/jid.ts";
import type { Ledger } from "./protocol/records.ts";

/** Message content, similar to the drivers' type so that a test can pass either. */
export type SentContent = (
  | { kind: "text"; text: string }
  | SaidMedia
  | { kind: "location"; latitude: number; longitude: number; name?: string; address?: string }
  | { kind: "contact"; name: string; phone: string; vcard?: string }
  /** `version`: in which field it came. */
  | SaidPoll
  /** Any other message, as `proto.Message.fromObject` accepts it. */
  | { kind: "raw"; message: Record<string, unknown> }
  /** Any other payload without padding. */
  | { kind: "payload"; bytes: Uint8Array }
) & { quoted?: SaidQuote; mentions?: string[]; forwarded?: { score: number } };

export interface SaidPoll {
  kind: "poll";
  version: 1 | 3 | 6;
  question: string;
  options: readonly string[];
  selectable_count: number;
  hide_voters?: boolean;
  ends_at?: string;
}

export interface SaidMedia {
  kind: "media";
  media_type: "image" | "video" | "audio" | "document" | "sticker" | "ptt";
  mime_type: string;
  file_name?: string;
  caption?: string;
  size?: number;
  sha256?: string;
  seconds?: number;
  waveform?: number[];
  width?: number;
  height?: number;
  /** JPEG in base64. */
  thumbnail?: string;
  gif_playback?: boolean;
  is_animated?: boolean;
  view_once?: boolean;
  album?: SaidAlbum;
  bytes?: Uint8Array;
}

/** The message that holds the items of an album together, and the place of an item. */
export interface SaidAlbum {
  id: string;
  position?: number;
}

/** A quote from the point of view of the person who writes or sees the reply. */
export interface SaidQuote {
  id: string;
  from_me: boolean;
  sender?: string;
  text?: string;
}

/** Items that the phone showed, in order; each message once. */
export type SeenMessage = { chat: string; from: string; from_me: boolean; at: number } & (
  | { type: "message"; id: string; content: SentContent; times: number }
  | { type: "edited"; id: string; text: string; media_type?: SaidMedia["media_type"] }
  | { type: "deleted"; id: string }
  | { type: "reaction"; id: string; reaction: string }
  | { type: "pinned"; id: string; seconds: number }
  | { type: "delivered" | "read" | "played"; ids: string[] }
  | { type: "presence"; state: string }
  | { type: "call"; id: string; state: string }
);

export interface NewServerPerson {
  /** Digits; random by default. */
  phone?: string;
  name?: string;
  /** Other spellings of the number, such as with a ninth digit, which the network resolves. */
  aliases?: string[];
  /** Can be written to but decrypts nothing, for benches. */
  opaque?: boolean;
  about?: string;
  /** Shows about text and picture only to known people with their token. */
  hidesProfile?: boolean;
  picture?: Uint8Array;
  business?: Business;
  /** Refuses to be added to groups. */
  refusesGroups?: boolean;
  /**
   * Whether direct chats use LIDs, by default true. `unannounced`: they do, without an announcement; `falsely`:
   * announced but not true.
   */
  migrated?: boolean | "unannounced" | "falsely";
  /** The network reports no devices of the person. */
  deviceless?: boolean;
  /** Phones of people who may write to this person. */
  trusts?: string[];
}

/** Public profile of a business. */
export interface Business {
  /** Verified by the network. */
  verified_name?: string;
  description?: string;
  category?: string;
  email?: string;
  website?: string;
  address?: string;
  /** Minutes since midnight, on every weekday. */
  hours?: { opens: number; closes: number };
  /** Its catalogue. */
  products?: ServerProduct[];
}

export interface ServerProduct {
  id: string;
  name: string;
  description?: string;
  price?: number;
  currency?: string;
}

export interface PersonInfo {
  phone: string;
  jid: string;
  lid: string;
  name: string;
  /** Linked devices (companions) by number. */
  devices: {
    number: number;
    name: string;
    online: boolean;
    presence: string;
    waiting: number;
    pre_keys: number;
    signed_pre_key: number;
  }[];
  about: string;
  has_picture: boolean;
  blocked: string[];
}

export interface SayOptions {
  id?: string;
  /** Addressing of the sender in the stanza; the network's default if absent. */
  addressing?: Addressing;
  /** Corrupts the first ciphertext to each linked device, which must request it again. */
  corrupt?: boolean;
  /** Milliseconds since the epoch. */
  at?: number;
  /** Message secret of 32 bytes; random by default. */
  secret?: Uint8Array;
  /** Additional stanza attributes. */
  attrs?: Record<string, string>;
  /** Sends to these phones through a broadcast list. */
  list?: { jid: string; recipients: string[]; addressing?: Addressing };
}

/** Changes that newer phones encrypt with the secret of another message. */
export type SecretChange =
  | { kind: "edit" | "comment"; text: string }
  | { kind: "reaction"; reaction: string }
  | { kind: "poll_option"; option: string }
  /** The texts of the chosen options. */
  | { kind: "vote"; options: readonly string[] }
  /** An edit of any kind: its `secretEncType`, and the message as `fromObject` accepts it. */
  | { kind: "raw"; type: number; message: Record<string, unknown> };

/** `secret` replaces the message's own. */
export interface SecretChangeOptions extends SayOptions {
  /** Addressing of the author and of the sender in the key; that of the chat if absent. */
  author?: Addressing;
  sender?: Addressing;
  /** Phone of the author in the key; the message's own if absent. */
  writer?: string;
}

export interface NewServerGroup {
  addressing?: Addressing;
  /** The announcement group of a community. */
  isOfCommunity?: boolean;
}

export interface GroupInfo {
  jid: string;
  subject: string;
  addressing: Addressing;
  members: { phone: string; lid: string; admin: boolean }[];
  description: string;
  announce: boolean;
  locked: boolean;
  join_approval: boolean;
  members_can_add: boolean;
  has_picture: boolean;
  invite: string;
  /** Phones of those who wait for an admin's approval. */
  requests: string[];
}

export type ServerGroupChange =
  | { change: "add" | "remove" | "promote" | "demote"; members: string[] }
  | { change: "subject"; subject: string }
  | { change: "description"; description: string }
  | { change: "announcement" | "not_announcement" | "locked" | "unlocked" }
  /** Zero turns it off. */
  | { change: "ephemeral"; seconds: number }
  | { change: "approval"; on: boolean }
  | { change: "member_add_mode"; everybody: boolean };

/** How a connection ends; the numbers are Baileys' disconnect reasons. */
export type ServerDisconnect = 401 | 403 | 428 | 429 | 440 | 500 | 503 | 515 | "silent";

/** Faults of the next `times` (default 1) requests that match the other fields. */
export type Fault = {
  times?: number;
  phone?: string;
} /** The HTTP upgrade is answered with this status, or never. */ & (
  | { fault: "upgrade"; status: number | "never" }
  /** TCP and WebSocket work, but there is no ServerHello. */
  | { fault: "no_hello" }
  /** Another root signs the Noise certificate. */
  | { fault: "untrusted_root" }
  /** The login gets `<failure reason>`. */
  | { fault: "login"; reason: number }
  /** The login gets no response. */
  | { fault: "login_silence" }
  /** The ack refuses a message: 463, 479 ... */
  | { fault: "ack_error"; error: number; to?: string }
  /** A message is delivered, but its ack is not sent. */
  | { fault: "ack_lost"; to?: string }
  /** Offline stanzas are announced and not sent. */
  | { fault: "queue_withheld" }
  /** The end of the offline stanzas is not announced. */
  | { fault: "offline_end_lost" }
  /** A receipt (of `from`) is lost on its way to the network. */
  | { fault: "receipt_lost"; from?: string }
  /** A query gets no response. */
  | { fault: "iq_silence"; xmlns: string }
  /** A query gets an error. */
  | { fault: "iq_error"; xmlns: string; code: number }
  /** A new signed pre-key is stored without a response. */
  | { fault: "rotation_lost" }
  /** A mex query gets an error inside its result. */
  | { fault: "mex_error"; code: number }
  /** The network has no prekeys of this person. */
  | { fault: "no_prekeys"; of?: string }
  /** Another identity has signed the prekey. */
  | { fault: "forged_prekeys"; of: string }
  /** One part of a usync query gets an error. */
  | { fault: "usync_error"; part: string; code: number; backoff?: number }
  /** The phone changes the same settings at the same time as a device. */
  | { fault: "setting_conflict" }
  /** A pairing code is refused. */
  | { fault: "code_refused"; code: number; text: string }
  /** The response is delayed. */
  | { fault: "code_delayed"; ms: number }
  /** The last step of a pairing code gets an error. */
  | { fault: "finish_refused"; code: number; text: string }
  /** The restart after the pairing is delayed. */
  | { fault: "restart_delayed"; ms: number }
  /** The phone has the keys and waits with its consent. */
  | { fault: "consent_held" }
  /** The account requires a passkey after the pairing code. */
  | { fault: "passkey_after_code" }
  /** An upload or download gets this status. */
  | { fault: "media"; method: "upload" | "download"; status: number; location?: string }
  /** The phone names this path when it uploads a file again. */
  | { fault: "media_retry_path"; path: string }
  /** Host for file uploads. */
  | { fault: "media_host"; host: string }
  /** A collection gets a snapshot at this address. */
  | { fault: "external_snapshot"; at: FileAddress }
  /** A download has a wrong MAC. */
  | { fault: "broken_seal" }
);

/** Address of a file in a message. */
export interface FileAddress {
  url?: string;
  directPath?: string;
}

/** How an account requires its passkey, and what its phone does then. */
export interface PasskeyDemand {
  /** Place of the options: in the notification, only in the response to a query, truncated there, or nowhere. */
  options?: "sent" | "absent" | "broken" | "never";
  /** Timeout in the options, in ms. */
  timeout?: number;
  /** Error codes for the first valid assertions. */
  refusals?: number[];
  /** What the phone does with the signed challenge. */
  response?: "right" | "twice" | "never" | "short_key" | "long_nonce" | "weak_key" | "cut";
}

/** What is forged in the phone's consent; with wrong properties it is valid. */
export type Forgery = "hmac" | "signature" | "props";

/** Any other stanza as plain data. */
export interface RawNode {
  tag: string;
  attrs: Record<string, string>;
  content?: RawNode[] | string | Uint8Array;
}

/** The child of a refresh notification. Both names exist; without a child it must change nothing. */
export type RefreshChild = "companion_reg_refresh" | "pair-device-rotate-qr" | "none";

/** All controls of the network, in-process or over HTTP. */
export interface WhatsAppControl {
  /** Adds a person with a phone, a number and a LID. The server runs the phone. */
  addPerson(options?: NewServerPerson): Promise<PersonInfo>;
  person(phone: string): Promise<PersonInfo>;
  /** Members by phone; the first is admin. */
  addGroup(subject: string, members: string[], options?: NewServerGroup): Promise<GroupInfo>;
  group(jid: string): Promise<GroupInfo>;
  /** A member changes a group, and its members' devices are notified. */
  changeGroup(by: string, jid: string, change: ServerGroupChange): Promise<GroupInfo>;
  /** A person uses the invitation of a group, and waits if an admin must approve it. */
  joinGroup(by: string, jid: string): Promise<GroupInfo>;

  /** Scans a QR code. Resolves with the number of the new device once the client has signed. */
  scan(phone: string, qr: string, options?: { forge?: Forgery }): Promise<number>;
  /** Types the code into the phone. A client must ignore a `ref` of another pairing. */
  enterCode(phone: string, code: string, options?: { ref?: string }): Promise<number>;
  /** The network's state of a requested pairing code. */
  pairingCode(phone: string): Promise<{ ref: string }>;
  /** Gives the consent that `consent_held` delays. */
  giveConsent(phone: string): Promise<number>;
  /** Requires a new pairing code: the client creates one, or with `manual` the user requests it. */
  refreshCode(phone: string, options?: { manual?: boolean; ref?: string }): Promise<void>;
  /** Invalidates the secret of all shown QR and pairing codes. Resolves with the notification id. */
  refreshRegistration(options?: { child?: RefreshChild; id?: string }): Promise<string>;
  /** Stanzas of unlinked clients, without content, but with the stage of a code pairing. */
  registrationStanzas(): Promise<RawNode[]>;
  /** Expires all shown QR codes. */
  expireReferences(): Promise<void>;
  /** Breaks the connections of unlinked clients. */
  endRegistrations(): Promise<void>;
  /** Like `scan` for an account with a passkey. Resolves when all is done, so a test does not await it first. */
  scanWithPasskey(phone: string, qr: string, demand?: PasskeyDemand): Promise<number>;
  /** Signs the options with the person's passkey, as `credential.toJSON()` of a browser returns it. */
  signPasskey(
    phone: string,
    options: Record<string, unknown>,
    how?: { origin?: string },
  ): Promise<SignedAssertion>;
  /** Code on the phone for comparison, once the client has revealed its nonce. */
  passkeyCode(phone: string): Promise<string | undefined>;
  /** The phone removes its linked devices, or one of them. */
  unlink(phone: string, device?: number): Promise<void>;
  /** Bans the account: connections end with 403 and logins are refused. */
  ban(phone: string, banned?: boolean): Promise<void>;

  /** Migrates direct chats to LIDs. With `props` devices learn it at the next login. */
  migrate(phone: string, how: "props" | "push" | "history"): Promise<void>;
  /** The phone shares or removes a salt for first-contact tokens. */
  shareSalt(
    phone: string,
    salt: Uint8Array | undefined,
    options?: { in?: "settings" | "history" },
  ): Promise<void>;

  /** Reinstalls the app: new identity, no linked devices. */
  reinstall(phone: string): Promise<void>;

  /** Gives the number to a new account. Writers to the old LID are notified. */
  renewLid(phone: string): Promise<PersonInfo>;
  /** Timer of the person's new chats; linked devices are notified. */
  setDefaultTimer(phone: string, seconds: number, at: number): Promise<void>;
  /** The phone fetches the keys of a person's devices for the next message. */
  meet(by: string, phone: string): Promise<void>;
  /** Sets the disappearing timer of a direct chat in seconds; 0 turns it off. */
  setTimer(
    by: string,
    to: string,
    seconds: number,
    options?: { silently?: boolean; at?: number },
  ): Promise<void>;
  /** `to` is a phone, a jid or a group. Returns the message id. */
  sendMessage(from: string, to: string, content: SentContent | string, options?: SayOptions): Promise<string>;
  /** A status update that one person may see, delivered as one of two stanzas. */
  postStatus(
    by: string,
    to: string,
    text: string,
    options?: SayOptions & { stanza?: "message" | "status" },
  ): Promise<string>;
  edit(by: string, to: string, id: string, text: string, options?: SayOptions): Promise<string>;
  delete(by: string, to: string, id: string, options?: SayOptions): Promise<string>;
  /** Zero seconds unpin it. */
  pin(by: string, to: string, id: string, seconds: number, options?: SayOptions): Promise<string>;
  react(by: string, to: string, id: string, reaction: string, options?: SayOptions): Promise<string>;
  /** Changes or comments on a message, encrypted with its secret. */
  sendEncryptedChange(
    by: string,
    to: string,
    id: string,
    change: SecretChange,
    options?: SecretChangeOptions,
  ): Promise<string>;
  /** Marks seen messages as read. */
  read(by: string, ids: string[], options?: { played?: boolean }): Promise<void>;
  presence(by: string, to: string, state: PresenceState): Promise<void>;
  /** Starts a phone call. Returns its id. */
  call(by: string, to: string, options?: { video?: boolean }): Promise<string>;
  /** The phone sends a message again to a person's linked devices. */
  sayAgain(by: string, to: string, id: string): Promise<void>;
  /** The phone requests a message again, as if it could not decrypt it. */
  requestRetry(by: string, id: string, options?: Pick<SayOptions, "addressing">): Promise<void>;

  /** The phone changes a setting in Baileys' `chatModify` format: archive, mute, contact name. */
  changeSetting(phone: string, change: Record<string, unknown>, jid: string): Promise<void>;
  /** The phone stars a message of a chat, or removes the star. */
  star(by: string, to: string, id: string, starred: boolean): Promise<void>;
  /** All settings of the phone and its devices. */
  appSettings(phone: string): Promise<AppSetting[]>;

  seen(by: string): Promise<SeenMessage[]>;
  /** A message on a person's phone, in protocol JSON. */
  message(by: string, id: string): Promise<Record<string, unknown> | undefined>;
  /** File of a seen message. */
  file(by: string, id: string): Promise<Uint8Array | undefined>;

  /** Ends the connections of a phone's linked devices. */
  end(phone: string, how: ServerDisconnect): Promise<void>;
  fault(fault: Fault): Promise<void>;
  clearFaults(): Promise<void>;
  /** Refuses new chats with 463 until then (ms since the epoch); undefined lifts it. */
  restrictNewChats(phone: string, until: number | undefined): Promise<void>;
  /** Deletes all files on the network, and with `phones` those on the phones. */
  expireMedia(options?: { phones?: boolean }): Promise<void>;
  /** The phone sends history to its linked devices as a file; `at` replaces its address. */
  sendHistoryFile(phone: string, history: HistoryChat[], at?: FileAddress): Promise<void>;
  /** Sends any stanza to a phone's linked devices, or to all unpaired connections. */
  push(phone: string | "unpaired", stanza: RawNode): Promise<void>;
  /** Off: refuses new TCP connections and keeps open ones. */
  listen(on: boolean): Promise<void>;
  settings(change: Partial<Settings>): Promise<Settings>;

  ledger(): Promise<Ledger>;
  clearLedger(): Promise<void>;
  /** Arrivals of this message id at the network. */
  arrivals(id: string): Promise<number>;
  /** Messages that wait for receipts of a phone's linked devices. */
  waiting(phone: string): Promise<number>;
  /** Maximum number of simultaneous logged-in sockets of one device. */
  maxOpenAtOnce(): Promise<number>;
  /** Stanzas of a phone's linked devices by kind, such as `message`, `iq:usync`, `receipt`. */
  stanzas(phone: string): Promise<Record<string, number>>;
  /** Unknown or forbidden stanzas. Tests assert that it is empty. */
  unhandled(): Promise<string[]>;
}

export type PresenceState = "available" | "unavailable" | "typing" | "recording" | "paused";

export interface Settings {
  /** Delay between a person's decryption and the receipt. */
  receiptDelayMs: number;
  /** Delay before an ack. */
  ackDelayMs: number;
  /** Addressing of senders in stanzas to linked devices. */
  addressing: Addressing;
  /** The phone sends keys, history and names after the first login. */
  initialSync: boolean;
  /** Content of that history. */
  history: HistoryChat[];
  /** The first message to a person needs a token; 463 without one. */
  trustDemanded: boolean;
  /** Clients with a lower revision get 405 at pairing and login. */
  oldestRevision: number;
  /** Whether everything is recorded; off for benches. */
  keepLedger: boolean;
  /** Whether clients must encrypt their edits. */
  encryptedEdits: boolean;
}

/** A setting that a person's devices share. */
export interface AppSetting {
  collection: string;
  index: string[];
  action: Record<string, unknown>;
}

export interface HistoryChat {
  /** Phone of a person or jid of a group. */
  chat: string;
  name?: string;
  archived?: boolean;
  pinned?: boolean;
  /** Milliseconds since the epoch. */
  muted_until?: number;
  unread?: boolean;
  messages: {
    id: string;
    text: string;
    from_me?: boolean;
    sender?: string;
    at: number;
    secret?: Uint8Array;
  }[];
}
