import type { SignedAssertion } from "./protocol/authenticator.ts";
import type { Addressing } from "./protocol/jid.ts";
import type { Ledger } from "./protocol/records.ts";

/** What a person says; close to what the gateway's own drivers use, so that a test can pass either. */
export type SentContent = (
  | { kind: "text"; text: string }
  | SaidMedia
  | { kind: "location"; latitude: number; longitude: number; name?: string; address?: string }
  | { kind: "contact"; name: string; phone: string; vcard?: string }
  /** Any other message, as `proto.Message.fromObject` takes it. */
  | { kind: "raw"; message: Record<string, unknown> }
  /** The bytes of any other payload, without padding. */
  | { kind: "payload"; bytes: Uint8Array }
) & { quoted?: SaidQuote; mentions?: string[] };

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
  bytes?: Uint8Array;
}

/** A quoted message from the point of view of the person who writes or sees the reply. */
export interface SaidQuote {
  id: string;
  from_me: boolean;
  sender?: string;
  text?: string;
}

/** What a person saw on the phone, in order; each message once, however often it came. */
export type SeenMessage = { chat: string; from: string; from_me: boolean; at: number } & (
  | { type: "message"; id: string; content: SentContent; times: number }
  | { type: "edited"; id: string; text: string; media_type?: SaidMedia["media_type"] }
  | { type: "deleted"; id: string }
  | { type: "reaction"; id: string; reaction: string }
  | { type: "delivered" | "read" | "played"; ids: string[] }
  | { type: "presence"; state: string }
  | { type: "call"; id: string; state: string }
);

export interface NewServerPerson {
  /** Digits; chosen when absent. */
  phone?: string;
  name?: string;
  /** Other spellings of the number that the network answers with the right one, such as with a ninth digit. */
  aliases?: string[];
  /** The person can be written to but reads nothing: costs no decryption, for benches. */
  opaque?: boolean;
  about?: string;
  /** About text and picture are shown to people whom the person knows, with the token that they got. */
  hidesProfile?: boolean;
  picture?: Uint8Array;
  business?: Business;
  /** Nobody may put the person into a group. */
  refusesGroups?: boolean;
  /**
   * Whether the account's direct chats go by LID, as they do if absent; `unannounced`: and nobody says so; `falsely`:
   * they do not, and it is said.
   */
  migrated?: boolean | "unannounced" | "falsely";
  /** The network names no devices of the person. */
  deviceless?: boolean;
  /** Phones of people who may write to the person, since the person knows them. */
  trusts?: string[];
}

/** What a business shows of itself. */
export interface Business {
  /** Vouched for by the network. */
  verified_name?: string;
  description?: string;
  category?: string;
  email?: string;
  website?: string;
  address?: string;
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
  /** How the sender is addressed in the stanza; the network's default when absent. */
  addressing?: Addressing;
  /** The first ciphertext to each linked device is broken, so that the device must ask again. */
  corrupt?: boolean;
  /** Milliseconds since the epoch. */
  at?: number;
  /** The secret of a message, 32 bytes; chosen when absent. */
  secret?: Uint8Array;
  /** Of the stanza, in place of its own. */
  attrs?: Record<string, string>;
  /** Goes to these people, by their phones, through a broadcast list. */
  list?: { jid: string; recipients: string[]; addressing?: Addressing };
}

/** What newer phones say under the secret of another message. */
export type SecretChange =
  | { kind: "edit" | "comment"; text: string }
  | { kind: "reaction"; reaction: string }
  | { kind: "poll_option"; option: string }
  /** An edit of any kind: the number of its `secretEncType`, and the message in it as `fromObject` takes it. */
  | { kind: "raw"; type: number; message: Record<string, unknown> };

/** `secret`: in place of the one that came with the message. */
export interface SecretChangeOptions extends SayOptions {
  /** How the key names the writer of the message, and the one who changes it: as the chat does when absent. */
  author?: Addressing;
  sender?: Addressing;
  /** Phone of whom the key names as the writer; the message's own when absent. */
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
  has_picture: boolean;
  invite: string;
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

/** How a live connection ends; the numbers are what the client library makes of it. */
export type ServerDisconnect = 401 | 403 | 428 | 429 | 440 | 500 | 503 | 515 | "silent";

/** What goes wrong from now on; `times` (default 1) says how often, everything else narrows it down. */
export type Fault = {
  times?: number;
  phone?: string;
} /** The HTTP upgrade is answered with this status, or never. */ & (
  | { fault: "upgrade"; status: number | "never" }
  /** TCP and WebSocket work, no ServerHello comes. */
  | { fault: "no_hello" }
  /** The noise certificate is signed by somebody else's root. */
  | { fault: "untrusted_root" }
  /** The login is answered with `<failure reason>`. */
  | { fault: "login"; reason: number }
  /** The login is never answered. */
  | { fault: "login_silence" }
  /** A message is refused in its ack: 463, 479 ... */
  | { fault: "ack_error"; error: number; to?: string }
  /** A message is taken and delivered, its ack never sent. */
  | { fault: "ack_lost"; to?: string }
  /** What waited for a device is announced, and none of it is sent. */
  | { fault: "queue_withheld" }
  /** The end of what waited for a device is never told. */
  | { fault: "offline_end_lost" }
  /** A receipt for a message (of somebody) is lost on its way to the network. */
  | { fault: "receipt_lost"; from?: string }
  /** A query is never answered. */
  | { fault: "iq_silence"; xmlns: string }
  /** A query is answered with an error. */
  | { fault: "iq_error"; xmlns: string; code: number }
  /** A new signed pre-key is taken, and nothing is answered. */
  | { fault: "rotation_lost" }
  /** A mex query is answered with an error inside the result. */
  | { fault: "mex_error"; code: number }
  /** A key that would open a conversation with this person is asked for, and the network has none. */
  | { fault: "no_prekeys"; of?: string }
  /** Somebody else has signed that key. */
  | { fault: "forged_prekeys"; of: string }
  /** One part of a question about people is refused, the question itself is not. */
  | { fault: "usync_error"; part: string; code: number; backoff?: number }
  /** The phone changes the same settings at the moment in which a device does. */
  | { fault: "setting_conflict" }
  /** A request for a pairing code is refused. */
  | { fault: "code_refused"; code: number; text: string }
  /** Its answer comes so much later. */
  | { fault: "code_delayed"; ms: number }
  /** The answer to the code's last step is an error. */
  | { fault: "finish_refused"; code: number; text: string }
  /** After the pairing the client is told to log in so much later. */
  | { fault: "restart_delayed"; ms: number }
  /** The phone has the keys and does not consent until it is told to. */
  | { fault: "consent_held" }
  /** The account wants its passkey before it links the device that was named by a code. */
  | { fault: "passkey_after_code" }
  /** An upload or download over HTTPS is answered with this status. */
  | { fault: "media"; method: "upload" | "download"; status: number; location?: string }
  /** The phone that is asked for a file again names this path for it. */
  | { fault: "media_retry_path"; path: string }
  /** Files are to be sent to this host. */
  | { fault: "media_host"; host: string }
  /** A collection of settings is answered with a snapshot that is said to lie there. */
  | { fault: "external_snapshot"; at: FileAddress }
  /** The seal at the end of a download is another one. */
  | { fault: "broken_seal" }
);

/** Where a file is said to lie. */
export interface FileAddress {
  url?: string;
  directPath?: string;
}

/** How an account demands its passkey, and how its phone goes on. */
export interface PasskeyDemand {
  /** Where the options are: in the notification, only in the answer to a query, there but cut off, or nowhere. */
  options?: "sent" | "absent" | "broken" | "never";
  /** Milliseconds that the options name. */
  timeout?: number;
  /** Codes with which the first right assertions are refused. */
  refusals?: number[];
  /** What the phone does with the signed challenge. */
  response?: "right" | "twice" | "never" | "short_key" | "long_nonce" | "weak_key" | "cut";
}

/** What is wrong in the phone's consent to a pairing; with wrong properties it is valid. */
export type Forgery = "hmac" | "signature" | "props";

/** A stanza as plain data, for what has no method of its own. */
export interface RawNode {
  tag: string;
  attrs: Record<string, string>;
  content?: RawNode[] | string | Uint8Array;
}

/** What a refresh has in it; both names are in use, and one without a child must change nothing. */
export type RefreshChild = "companion_reg_refresh" | "pair-device-rotate-qr" | "none";

/** Everything that a test can do with the network; the same in-process and over HTTP. */
export interface WhatsAppControl {
  /** A person with a phone, a number and a LID; the phone is run by the server. */
  addPerson(options?: NewServerPerson): Promise<PersonInfo>;
  person(phone: string): Promise<PersonInfo>;
  /** Members by phone; the first is the admin. */
  addGroup(subject: string, members: string[], options?: NewServerGroup): Promise<GroupInfo>;
  group(jid: string): Promise<GroupInfo>;
  /** A member changes a group; all devices of its members hear of it. */
  changeGroup(by: string, jid: string, change: ServerGroupChange): Promise<GroupInfo>;

  /** The phone scans a QR; resolves with the number of the new device once the client has signed. */
  scan(phone: string, qr: string, options?: { forge?: Forgery }): Promise<number>;
  /** The code is typed into the phone; with a `ref` of another pairing, which a client must not answer to. */
  enterCode(phone: string, code: string, options?: { ref?: string }): Promise<number>;
  /** What the network knows of the code that a client asked for. */
  pairingCode(phone: string): Promise<{ ref: string }>;
  /** The phone consents to the pairing by code that the fault `consent_held` held up. */
  giveConsent(phone: string): Promise<number>;
  /** The network wants another code: the client draws one, or with `manual` the user has to ask for it. */
  refreshCode(phone: string, options?: { manual?: boolean; ref?: string }): Promise<void>;
  /** The network retires the secret of every QR and code on show; resolves with the id of its notification. */
  refreshRegistration(options?: { child?: RefreshChild; id?: string }): Promise<string>;
  /** All that clients have sent before they were linked, without content but with the stage of a pairing by code. */
  registrationStanzas(): Promise<RawNode[]>;
  /** No QR on show can be scanned any more. */
  expireReferences(): Promise<void>;
  /** Breaks the connections of the clients that are not linked yet. */
  endRegistrations(): Promise<void>;
  /**
   * As `scan`, of an account that wants its passkey before it links; resolves when all is done, so a test begins it and
   * goes on.
   */
  scanWithPasskey(phone: string, qr: string, demand?: PasskeyDemand): Promise<number>;
  /** A browser on web.whatsapp.com signs the options with the person's passkey, as `credential.toJSON()` says it. */
  signPasskey(
    phone: string,
    options: Record<string, unknown>,
    how?: { origin?: string },
  ): Promise<SignedAssertion>;
  /** What the phone shows for a comparison, once the client has revealed its nonce. */
  passkeyCode(phone: string): Promise<string | undefined>;
  /** The phone removes its linked devices, or one of them. */
  unlink(phone: string, device?: number): Promise<void>;
  /** The account is banned: connections end with 403 and logins are refused. */
  ban(phone: string, banned?: boolean): Promise<void>;

  /** The account's direct chats go by LID from now on; its devices hear it so, at the next login for `props`. */
  migrate(phone: string, how: "props" | "push" | "history"): Promise<void>;
  /** The phone shares a salt for tokens of first contacts, or takes it back. */
  shareSalt(
    phone: string,
    salt: Uint8Array | undefined,
    options?: { in?: "settings" | "history" },
  ): Promise<void>;

  /** The person installs the app anew: another identity, no linked devices. */
  reinstall(phone: string): Promise<void>;

  /** The number belongs to a new account: those who write to the old LID hear of it. */
  renewLid(phone: string): Promise<PersonInfo>;
  /** The timer of a person for chats that begin from now on; linked devices hear of it. */
  setDefaultTimer(phone: string, seconds: number, at: number): Promise<void>;
  /** A person's phone takes the keys of somebody's devices, for the next message. */
  meet(by: string, phone: string): Promise<void>;
  /** A person sets after how many seconds the messages of a direct chat disappear; 0: never. */
  setTimer(
    by: string,
    to: string,
    seconds: number,
    options?: { silently?: boolean; at?: number },
  ): Promise<void>;
  /** `to` is a phone, a jid or a group; the id of the message is returned. */
  sendMessage(from: string, to: string, content: SentContent | string, options?: SayOptions): Promise<string>;
  /** A story that one person may see, which the network delivers as one of two stanzas. */
  postStatus(
    by: string,
    to: string,
    text: string,
    options?: SayOptions & { stanza?: "message" | "status" },
  ): Promise<string>;
  edit(by: string, to: string, id: string, text: string, options?: SayOptions): Promise<string>;
  delete(by: string, to: string, id: string, options?: SayOptions): Promise<string>;
  react(by: string, to: string, id: string, reaction: string, options?: SayOptions): Promise<string>;
  /** Changes a message, or comments on it, under its secret. */
  sendEncryptedChange(
    by: string,
    to: string,
    id: string,
    change: SecretChange,
    options?: SecretChangeOptions,
  ): Promise<string>;
  /** Marks messages that the person saw as read. */
  read(by: string, ids: string[], options?: { played?: boolean }): Promise<void>;
  presence(by: string, to: string, state: PresenceState): Promise<void>;
  /** Rings; the id of the call is returned. */
  call(by: string, to: string, options?: { video?: boolean }): Promise<string>;
  /** The person's phone sends a message once more to the linked devices of somebody. */
  sayAgain(by: string, to: string, id: string): Promise<void>;
  /** The person's phone asks the sender for a message again, as one that could not be read. */
  requestRetry(by: string, id: string, options?: Pick<SayOptions, "addressing">): Promise<void>;

  /** The phone changes a setting, given as the library's `chatModify` takes it: archives a chat, mutes, names a contact. */
  changeSetting(phone: string, change: Record<string, unknown>, jid: string): Promise<void>;
  /** All settings that the phone and its devices have made. */
  appSettings(phone: string): Promise<AppSetting[]>;

  seen(by: string): Promise<SeenMessage[]>;
  /** A whole message as a person's phone has it, in the form that the protocol's JSON has. */
  message(by: string, id: string): Promise<Record<string, unknown> | undefined>;
  /** The bytes of a file in a message that the person saw. */
  file(by: string, id: string): Promise<Uint8Array | undefined>;

  /** Ends the open connections of a phone's linked devices. */
  end(phone: string, how: ServerDisconnect): Promise<void>;
  fault(fault: Fault): Promise<void>;
  clearFaults(): Promise<void>;
  /** New chats are refused with 463 until then (milliseconds since the epoch); undefined lifts it. */
  restrictNewChats(phone: string, until: number | undefined): Promise<void>;
  /** The network forgets all files; the phones too, so that they cannot upload them again, when asked. */
  expireMedia(options?: { phones?: boolean }): Promise<void>;
  /** The phone sends history as a file to its linked devices; `at`: it says that the file lies there. */
  sendHistoryFile(phone: string, history: HistoryChat[], at?: FileAddress): Promise<void>;
  /** Any stanza to the linked devices of a phone, or to all unpaired connections. */
  push(phone: string | "unpaired", stanza: RawNode): Promise<void>;
  /** Off: new connections are refused by TCP; open ones stay. */
  listen(on: boolean): Promise<void>;
  settings(change: Partial<Settings>): Promise<Settings>;

  ledger(): Promise<Ledger>;
  clearLedger(): Promise<void>;
  /** How often a message with this id reached the network. */
  arrivals(id: string): Promise<number>;
  /** How many messages wait for a receipt of the linked devices of a phone. */
  waiting(phone: string): Promise<number>;
  /** The highest number of sockets that one device had open and logged in at once. */
  maxOpenAtOnce(): Promise<number>;
  /** Stanzas by kind, such as `message`, `iq:usync`, `receipt`, that linked devices of a phone sent. */
  stanzas(phone: string): Promise<Record<string, number>>;
  /** What the server does not understand or must not come; a test asserts that it is empty. */
  unhandled(): Promise<string[]>;
}

export type PresenceState = "available" | "unavailable" | "typing" | "recording" | "paused";

export interface Settings {
  /** Between a person's decryption and the receipt. */
  receiptDelayMs: number;
  /** Before a message is acknowledged. */
  ackDelayMs: number;
  /** How senders are addressed in stanzas to linked devices. */
  addressing: Addressing;
  /** After the first login the phone sends keys, history and names. */
  initialSync: boolean;
  /** What that history holds. */
  history: HistoryChat[];
  /** The first message to a person needs a token of trust, or is refused with 463. */
  trustDemanded: boolean;
  /** Clients whose version has a lower last number are refused with 405, at a pairing and at a login. */
  oldestRevision: number;
  /** Whether everything is written down; off for benches. */
  keepLedger: boolean;
  /** Whether clients are told to encrypt their edits. */
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
