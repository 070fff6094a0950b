import type { LookupFunction } from "node:net";
import type { Content, EditOptions } from "./content.ts";
import type { CredentialStore } from "./credential-store.ts";
import type { Identity, Jid, MessageId, MessageRef } from "./identity.ts";
import type {
  ChatOperations,
  ChatState,
  ContactOperations,
  ContactUpdate,
  GroupOperations,
  GroupUpdate,
  OperationResult,
  PasskeyOperations,
  PasskeyState,
  ProfileOperations,
} from "./session-operations.ts";

export type {
  AdReferral,
  ChoiceContent,
  ContactCard,
  ContactContent,
  Content,
  ContentContext,
  EditOptions,
  GroupInvite,
  LinkPreview,
  LocationContent,
  MediaContent,
  MediaType,
  Mentioned,
  QuotedContent,
  QuotedMessage,
  TextContent,
} from "./content.ts";
export type {
  CredentialStore,
  KeyChange,
  PairingChange,
  PairingStore,
  StoredJournalEntry,
} from "./credential-store.ts";
export type { Identity, Jid, MessageId, MessageRef } from "./identity.ts";

export interface NetworkMessage {
  id: MessageId;
  chat: Jid;
  chat_type: "contact" | "group";
  from_me: boolean;
  sender: Identity;
  content: Content;
  at: Date;
  /** Waited in the network's queue while the session was away. */
  offline?: boolean;
  /** From before the pairing: for the log, and nobody is told. */
  history?: boolean;
  /** Could not be decrypted yet; never takes the place of a message, and the message takes its place when it comes. */
  unreadable?: boolean;
}

/**
 * `closed` and `logged_out`: the gateway asked for it; when the phone unlinks it, the event is `logged_out`. `outdated`:
 * the network does not take this version of its client any more. `pairing_failed`: no phone was linked, see its `error`.
 */
export type DisconnectReason =
  | SessionStartFailure
  | "connection_lost"
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

/** Why a pairing failed: what happened, and what the person who links can do. */
export interface PairingError {
  code: PairingErrorCode;
  message: string;
  action: string;
  /** Before then the network refuses again. */
  retry_at?: Date;
}

/** `refreshed`: takes the place of a QR that was scanned; the network wants the phone to scan once more. */
export type QrReason = "new" | "refreshed";

/**
 * Everything a session tells; `report` resolves once it is stored, and only then is it acknowledged to the network.
 * A rejection means that it is not stored: the session goes on, and the same is told again later.
 */
export type NetworkEvent =
  | { type: "qr"; qr: string; expires_at: Date; attempt: number; max_attempts: number; reason: QrReason }
  | { type: "pairing_code"; code: string; expires_at: Date }
  | { type: "qr_expired"; error?: PairingError }
  /** A try to link failed; the QR or the code that is shown can still be used. */
  | { type: "pairing_failed"; error: PairingError }
  /** The network wants a passkey before it links, or the ceremony has come further. */
  | { type: "passkey_required"; passkey: PasskeyState }
  /** The network wants a person to do something, or the session may end. */
  | { type: "attention"; code: AttentionReason }
  | { type: "connected"; me: Identity; platform: string }
  | {
      type: "disconnected";
      reason: DisconnectReason;
      will_retry: boolean;
      /** For people: what the network said, and which try follows. */
      detail?: string;
      /** Of a pairing that ended so. */
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
      text: string;
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
  | { type: "group_updated"; group: Jid; at: Date; change: GroupUpdate }
  | { type: "contact_updated"; contact: ContactUpdate }
  /** What the paired phone calls itself, where that is told only after `connected`, or changed on the phone. */
  | { type: "profile_updated"; name: string }
  | { type: "chat_updated"; chat: Jid; change: ChatState }
  | { type: "call_received"; from: Identity; call_id: string; video: boolean; at: Date };

/** `passkey_challenge`: the network demands the passkey of the account from a linked session. */
export type AttentionReason = "passkey_challenge";

/** How far a message has come, in order; a status never goes back. */
export type MessageStatus = "sent" | "delivered" | "read" | "played";

/**
 * How a send or an action ended. `not_sent`: it never reached the wire, a later try is safe; `is_offline`: as there was no
 * connection, which says nothing about the message.
 * `unknown`: it may have reached the network, only the same id may be tried again.
 */
export type SendResult =
  | { outcome: "accepted"; at: Date /** Of a file: what `downloadMedia` needs. */; media_ref?: unknown }
  | { outcome: "refused"; code: SendErrorCode; reason: string; retryable: boolean; until?: Date }
  | { outcome: "not_sent"; reason: string; is_offline?: boolean }
  | { outcome: "unknown"; reason: string };

export type SendErrorCode =
  | "RECIPIENT_NOT_FOUND"
  | "REACHOUT_TIMELOCK"
  | "SEND_FAILED"
  | "CONFLICT"
  | "NOT_SUPPORTED";

export type Presence = "available" | "unavailable" | "typing" | "recording" | "paused";

/** A live connection of one instance to the network. Absent methods are capabilities that the network lacks. */
export interface Session {
  /** Idempotent and never throws: what comes of it arrives as events. With a phone, asks for a pairing code instead of a QR. */
  connect(options?: { pairingPhone?: string }): void;
  /** Closes the connection and keeps the identity. */
  disconnect(): Promise<void>;
  /** Unlinks from the phone, confirmed by the network where it can, and erases the identity. */
  logout(): Promise<void>;
  /** Resolves when the network has accepted or refused the message; may stay open as long as the network is silent. */
  send(to: Jid, content: Content, options: { id: MessageId }): Promise<SendResult>;
  edit?(target: MessageRef, text: string, options: EditOptions): Promise<SendResult>;
  deleteForEveryone?(target: MessageRef, options: { id: MessageId }): Promise<SendResult>;
  react?(target: MessageRef, reaction: string, options: { id: MessageId }): Promise<SendResult>;
  markRead?(chat: Jid, targets: MessageRef[]): Promise<SendResult>;
  setPresence?(presence: Presence, to?: Jid): Promise<SendResult>;
  /**
   * An inbound file by the `ref` of its content, piece by piece as it arrives; `gone` when neither the network nor the
   * phone has it. Rejects when it could not be fetched whole and unchanged: what came is worth nothing then.
   */
  downloadMedia?(
    ref: unknown,
    onChunk: (chunk: Uint8Array) => Promise<void> | void,
  ): Promise<"done" | "gone">;
  rejectCall?(call_id: string, from: Jid): Promise<OperationResult<null>>;
  readonly contacts?: ContactOperations;
  readonly chats?: ChatOperations;
  readonly profile?: ProfileOperations;
  readonly groups?: GroupOperations;
  /** While the session is being paired. */
  readonly passkey?: PasskeyOperations;
}

/** What may be asked of a session from another process: everything that leaves no row behind. */
export type SessionOperations = Pick<
  Session,
  "setPresence" | "downloadMedia" | "rejectCall" | "contacts" | "chats" | "profile" | "groups" | "passkey"
>;

export interface OpenSessionOptions {
  /** Of the instance. On the sandbox it names the network: each account has one of its own. */
  account_id: number;
  credentials: CredentialStore;
  report: (event: NetworkEvent) => Promise<void>;
  /** What was sent under an id, for a recipient who asks for it again. */
  findSent?: (chat: Jid, id: MessageId) => Promise<Content | undefined>;
  /** `http:`, `https:`, `socks5:` or `socks4:` URL through which everything of this session goes. */
  proxy?: string;
  /** Finds the addresses of the proxy's name, and fails for one that may not be dialled. */
  lookup?: LookupFunction;
  /** Whether the paired account is shown as online while it is connected. */
  markOnline?: boolean;
  /** What the phone shows the session as under its linked devices, where it is linked by QR. */
  deviceName?: string;
  /** Which instance of the gateway it is, for the log. */
  instance_id?: number;
  /** When it was used last: where many connect at once, the most recent goes first. */
  activeAt?: Date;
  /** Whether a failure of `credentials` or `report` passes by itself, such as a database that is away; none when absent. */
  mayPass?: (error: unknown) => boolean;
}

/** A network as the gateway sees it. */
export interface NetworkDriver {
  readonly network: "whatsapp" | "sandbox";
  open(options: OpenSessionOptions): Session;
}
