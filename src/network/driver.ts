import type { LookupFunction } from "node:net";
import type { Content, EditOptions, InboundContent, MediaContent, PollContent } from "./content.ts";
import type { CredentialStore } from "./credential-store.ts";
import type { GroupUpdate } from "./groups.ts";
import type { Identity, Jid, MessageId, MessageRef } from "./identity.ts";
import type { NetworkMessage, PollVote, UnsupportedMessage } from "./network-message.ts";
import type { SendResult } from "./send-result.ts";
import type {
  ChatState,
  ContactUpdate,
  Label,
  LabelAssignment,
  OperationResult,
  PasskeyState,
  Presence,
  SessionOperations,
} from "./session-operations.ts";

export type {
  AdReferral,
  AlbumItem,
  ChoiceContent,
  ContactCard,
  ContactContent,
  Content,
  ContentContext,
  EditOptions,
  GroupInvite,
  InboundContent,
  LinkPreview,
  LocationContent,
  MediaContent,
  MediaType,
  Mentioned,
  PollContent,
  PollOption,
  QuotedContent,
  QuotedMessage,
  StatusContent,
  TextContent,
  UnsupportedContent,
} from "./content.ts";
export type {
  CredentialStore,
  KeyChange,
  PairingChange,
  PairingStore,
  StoredJournalEntry,
} from "./credential-store.ts";
export type { Identity, Jid, MessageId, MessageRef } from "./identity.ts";
export type { NetworkMessage, PollVote, UnsupportedMessage } from "./network-message.ts";
export type { SendResult } from "./send-result.ts";
export type { Presence, ReachableSession } from "./session-operations.ts";

/**
 * `closed` and `logged_out`: requested by the gateway; an unlink on the phone is the event `logged_out`
 * instead. `outdated`: the network rejects this client version. `pairing_failed`: no phone was linked, see
 * its `error`.
 */
export type DisconnectReason =
  | SessionStartFailure
  | "connection_lost"
  | "rate_limited"
  | "replaced"
  | "restart_required"
  | "outdated"
  | "logged_out"
  | "banned"
  | "pairing_failed"
  | "closed";

/** Why the gateway itself could not start a session. */
export type SessionStartFailure = "library_failed" | "credentials_unreadable" | "session_failed";

export type PairingErrorCode =
  | "qr_expired"
  | "code_expired"
  | "code_withdrawn"
  | "wrong_code"
  | "number_refused"
  | "code_forbidden"
  | "rate_limited"
  | "pairing_unavailable"
  | "link_not_completed"
  | "phone_refused"
  | "not_stored"
  | "passkey_expired"
  | "passkey_no_answer"
  | "passkey_not_confirmed"
  | "passkey_failed"
  | "passkey_cancelled"
  | "passkey_interrupted"
  | "client_outdated"
  | "connection_failed";

/** Why a pairing failed: what happened, and what the user can do. */
export interface PairingError {
  code: PairingErrorCode;
  message: string;
  action: string;
  /** Before this time the network rejects every attempt. */
  retry_at?: Date;
}

/** `refreshed`: replaces a QR that was scanned; the network requires a second scan. */
export type QrReason = "new" | "refreshed";

/**
 * All events of a session. `report` resolves once the event is stored, and only then does the session
 * acknowledge it. A rejection means that it is not stored: the session continues, and reports it again later.
 */
export type NetworkEvent =
  | { type: "qr"; qr: string; expires_at: Date; attempt: number; max_attempts: number; reason: QrReason }
  | { type: "pairing_code"; code: string; expires_at: Date }
  | { type: "qr_expired"; error?: PairingError }
  /** An attempt to link failed; the current QR or code is still valid. */
  | { type: "pairing_failed"; error: PairingError }
  /** The network requires a passkey before it links, or the ceremony has progressed. */
  | { type: "passkey_required"; passkey: PasskeyState }
  /** The user must act, or the network may end the session. */
  | { type: "attention"; code: AttentionReason }
  | { type: "connected"; me: Identity; platform: string }
  | {
      type: "disconnected";
      reason: DisconnectReason;
      will_retry: boolean;
      /** For users: the network's message, and the number of the next attempt. */
      detail?: string;
      /** The error of a failed pairing. */
      error?: PairingError;
    }
  | { type: "logged_out"; reason: string }
  | { type: "banned"; reason: string }
  | { type: "message"; message: NetworkMessage }
  | {
      type: "message_status";
      chat: Jid;
      ids: MessageId[];
      from_me: boolean;
      status: MessageStatus;
      at: Date;
      /** In a group: the member who has received, read or played our messages. */
      participant?: Identity;
    }
  | {
      type: "message_edited";
      chat: Jid;
      id: MessageId;
      from_me: boolean;
      by: Identity;
      /** Null: the edit is encrypted, and its text is not known for this reason. */
      text: string | null;
      reason?: UnknownTextReason;
      /** Of a poll: what the edit makes of it; the text says the same. */
      poll?: PollContent;
      /** Everybody in the chat may make it: a new option of a poll. */
      is_open?: boolean;
      at: Date;
    }
  | { type: "message_deleted"; chat: Jid; id: MessageId; from_me: boolean; by: Identity; at: Date }
  | {
      type: "message_reaction";
      chat: Jid;
      id: MessageId;
      from_me: boolean;
      by: Identity;
      reaction: string;
      at: Date;
    }
  | ({ type: "poll_voted"; chat: Jid; id: MessageId; from_me: boolean } & PollVote)
  | {
      type: "message_pinned";
      chat: Jid;
      id: MessageId;
      from_me: boolean;
      by: Identity;
      /** How long the message stays at the top of the chat; 0: it is unpinned. */
      seconds: number;
      at: Date;
    }
  /** The paired phone has starred a message, or removed the star. */
  | {
      type: "message_starred";
      chat: Jid;
      id: MessageId;
      from_me: boolean;
      by: Identity;
      starred: boolean;
      at: Date;
    }
  /** An edit, a deletion, a reaction or a vote that changes nothing. */
  | { type: "change_ignored"; reason: IgnoredChangeReason }
  /** A better copy of the file of an earlier message by the same person; phones show it in place of the first. */
  | {
      type: "message_file_replaced";
      chat: Jid;
      id: MessageId;
      from_me: boolean;
      by: Identity;
      at: Date;
      file: MediaContent;
    }
  | { type: "group_updated"; group: Jid; at: Date; change: GroupUpdate }
  /** People ask to join a group of which the instance is an admin. */
  | { type: "group_join_requested"; group: Jid; at: Date; who: Identity[]; method: string | null }
  | { type: "contact_updated"; contact: ContactUpdate }
  /** The paired phone's profile name, if it arrives after `connected` or changes on the phone. */
  | { type: "profile_updated"; name: string }
  | { type: "chat_updated"; chat: Jid; change: ChatState }
  /** Of a subscribed chat. For a group, `who` is the member. */
  | {
      type: "presence_changed";
      chat: Jid;
      who: Identity;
      presence: Presence;
      /** Null: not shown to us, or the person is online. */
      last_seen_at: Date | null;
      at: Date;
      /** When it no longer counts; absent as the network reports it. */
      expires_at?: Date;
    }
  /** A story of another person. */
  | { type: "status_received"; id: MessageId; by: Identity; content: InboundContent; at: Date }
  /** A person has seen a story of ours. */
  | { type: "status_viewed"; ids: MessageId[]; by: Identity; at: Date }
  | { type: "label_changed"; label: Label; is_deleted: boolean }
  | ({ type: "label_assigned" } & LabelAssignment)
  | { type: "call_received"; from: Identity; call_id: string; video: boolean; at: Date };

/** `no_secret`: the secret of the original is not known. `undecryptable`: it does not open the edit. */
export type UnknownTextReason = "no_secret" | "undecryptable";

/** `cyclic`: a change of itself or of another change. `unknown_kind`: encrypted, and of a kind that changes no message. */
export type IgnoredChangeReason = UnknownTextReason | "cyclic" | "unknown_kind";

/** A logged message, for a change of it. */
export interface OriginalMessage {
  from_me: boolean;
  /** Null: this instance. */
  sender: Identity | null;
  /** It could not be decrypted yet. */
  unreadable: boolean;
  secret?: string | undefined;
  /** Its text, or the caption of its file. */
  text: string | null;
  poll: PollContent | null;
}

/**
 * `passkey_challenge`: the network requires the account's passkey from a linked session. `queue_withheld`: it delivers
 * less of what waited for the session than it has announced.
 */
export type AttentionReason = "passkey_challenge" | "queue_withheld";

/** Delivery progress in order; a status never goes back. */
export type MessageStatus = "sent" | "delivered" | "read" | "played";

/**
 * A live connection of one instance to the network, with its session operations. Absent methods are capabilities that
 * the network lacks.
 */
export interface Session extends SessionOperations {
  /**
   * Idempotent and never throws: results arrive as events. With a phone, requests a pairing code instead of a
   * QR.
   */
  connect(options?: { pairingPhone?: string }): void;
  /** Closes the connection; the identity stays stored. */
  disconnect(): Promise<void>;
  /** Unlinks from the phone, with the network's confirmation if possible, and deletes the identity. */
  logout(): Promise<void>;
  /** Resolves when the network has accepted or refused the message; stays pending until it responds. */
  send(to: Jid, content: Content, options: { id: MessageId }): Promise<SendResult>;
  edit?(target: MessageRef, text: string, options: EditOptions): Promise<SendResult>;
  deleteForEveryone?(target: MessageRef, options: { id: MessageId }): Promise<SendResult>;
  react?(target: MessageRef, reaction: string, options: { id: MessageId }): Promise<SendResult>;
  /** Keeps the message at the top of the chat for everyone in it, for so many seconds; 0 unpins it. */
  pin?(target: MessageRef, seconds: number, options: { id: MessageId }): Promise<SendResult>;
  /** Deletes the message from the own phone and its devices; the chat's other people keep it. `at`: when it was sent. */
  deleteForMe?(target: MessageRef & { at: Date }, options: { id: MessageId }): Promise<SendResult>;
  /** A star, which only the own phone shows. */
  star?(target: MessageRef, starred: boolean, options: { id: MessageId }): Promise<SendResult>;
  markRead?(chat: Jid, targets: MessageRef[], options?: ReadOptions): Promise<SendResult>;
  /**
   * Streams an inbound file by the `ref` of its content; `gone` if neither the network nor the phone has it.
   * Rejects if the file is incomplete or changed: the chunks received so far are then invalid.
   */
  downloadMedia?(
    ref: unknown,
    onChunk: (chunk: Uint8Array) => Promise<void> | void,
  ): Promise<"done" | "gone">;
  rejectCall?(call_id: string, from: Jid): Promise<OperationResult<null>>;
}

export interface ReadOptions {
  /** Marks voice notes, or files that phones show once, as played too. */
  played?: boolean;
}

export interface OpenSessionOptions {
  /** Account of the instance. In the sandbox it selects the network: each account has its own. */
  account_id: number;
  credentials: CredentialStore;
  report: (event: NetworkEvent) => Promise<void>;
  /** Finds a sent message by its id, for a recipient who requests it again. */
  findSent?: (chat: Jid, id: MessageId) => Promise<Content | undefined>;
  /** Whether no message was ever received from this chat or delivered to it. */
  isNewChat?: (chat: Jid) => Promise<boolean>;
  /** Finds the message that a change is about. */
  findOriginal?: (chat: Jid, id: MessageId) => Promise<OriginalMessage | undefined>;
  /** Whether the person may delete what others write in the chat; nobody may if absent. */
  mayDelete?: (chat: Jid, by: Identity) => Promise<boolean>;
  /** The latest messages that could not be read. Those that can be read now are reported again, as history. */
  findUnsupported?: () => Promise<UnsupportedMessage[]>;
  /** `http:`, `https:`, `socks5:` or `socks4:` URL for all traffic of this session. */
  proxy?: string;
  /** Resolves the proxy's host name, and fails for an address that is not allowed. */
  lookup?: LookupFunction;
  /** Whether the paired account appears online while it is connected. */
  markOnline?: boolean;
  /** Name of the session in the phone's list of linked devices, if it was linked by QR. */
  deviceName?: string;
  /** Id of the instance, for the log. */
  instance_id?: number;
  /** Time of the last use: if many sessions connect at once, the most recently used goes first. */
  activeAt?: Date;
  /**
   * Whether a failure of `credentials` or `report` is temporary, such as an unavailable database; never if
   * absent.
   */
  isTransientError?: (error: unknown) => boolean;
}

/** The gateway's interface to a network. */
export interface NetworkDriver {
  readonly network: "whatsapp" | "sandbox";
  /** For a network that withholds acknowledgements on purpose: a send fails after this many attempts. */
  readonly mostUnconfirmedTries?: number;
  open(options: OpenSessionOptions): Session;
}
