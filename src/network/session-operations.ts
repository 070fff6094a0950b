import type { Identity, Jid, MessageRef } from "./identity.ts";

/**
 * The result of an operation without a row. `refused`: by the network. `failed`: no response, and a retry is
 * safe.
 */
export type OperationResult<Value> =
  | { outcome: "done"; value: Value }
  | { outcome: "refused"; code: OperationErrorCode; reason: string; retry_after_seconds?: number }
  | { outcome: "failed"; reason: string }
  /** The process that holds the session is unreachable at the moment; nothing was done. */
  | { outcome: "unreachable"; reason: string }
  /** That process received the operation but did not respond: it may have been done. */
  | { outcome: "unknown"; reason: string };

export type OperationErrorCode =
  | "NOT_FOUND"
  | "FORBIDDEN"
  | "RATE_LIMITED"
  | "RECIPIENT_NOT_FOUND"
  | "VALIDATION_ERROR"
  | "CONFLICT"
  | "NOT_SUPPORTED"
  | "SEND_FAILED";

/** Whether a number is on the network, and the identity of its owner. */
export interface NumberCheck {
  /** As requested: digits only. */
  number: string;
  jid: Jid | null;
  lid: Jid | null;
  /** Set for businesses. */
  verified_name: string | null;
}

/** A field is null if the network does not provide it. */
export interface ContactInfo extends Identity {
  verified_name: string | null;
  is_business: boolean;
  business: {
    description?: string;
    category?: string;
    email?: string;
    website?: string[];
    address?: string;
  } | null;
  about: string | null;
  picture_url: string | null;
}

/** Changed data of a person: address book name, profile name or the other address. */
export interface ContactUpdate {
  jid: Jid | null;
  lid: Jid | null;
  phone: string | null;
  /** In the phone's address book; null: not reported. */
  name: string | null;
  push_name: string | null;
  verified_name: string | null;
}

/** The state of a chat on the phone; absent fields are unchanged. */
export interface ChatState {
  archived?: boolean;
  pinned?: boolean;
  /** Null: it is not muted. */
  muted_until?: Date | null;
  unread?: boolean;
}

export interface OwnProfile extends Identity {
  about: string | null;
  picture_url: string | null;
  is_business: boolean;
  business: ContactInfo["business"];
  /** With the network's keys, such as `last` or `groupadd`. */
  privacy: Record<string, string>;
}

export interface GroupParticipant {
  jid: Jid;
  lid: Jid | null;
  phone: string | null;
  admin: "admin" | "superadmin" | null;
}

export interface Group {
  jid: Jid;
  subject: string;
  description: string | null;
  owner: Jid | null;
  /** Only admins can send messages. */
  announce: boolean;
  /** Only admins can change the settings. */
  locked: boolean;
  created_at: Date | null;
  participants: GroupParticipant[];
}

export type ParticipantAction = "add" | "remove" | "promote" | "demote";

/** The change of a group, if the network reports it; empty means that the group must be fetched again. */
export interface GroupUpdate {
  subject?: string;
  description?: string | null;
  announce?: boolean;
  locked?: boolean;
  participants?: { action: ParticipantAction; who: GroupParticipant[] };
  /** The whole group as it is now. */
  group?: Group;
  /** The instance is no longer a member. */
  left?: boolean;
  by?: Identity;
}

/**
 * One person's status code from the network (200 done, 403 refuses invitations, 404 unknown, 409 already a
 * member).
 */
export interface ParticipantResult {
  jid: Jid;
  status: number;
}

/** One change at a time, so that each has its own result. */
export type GroupChange =
  | { subject: string }
  | { description: string }
  | { image: Uint8Array | null }
  | { announce: boolean }
  | { locked: boolean };

export interface ContactOperations {
  /** Takes digits; returns one result per number, in order. */
  check(numbers: readonly string[]): Promise<OperationResult<NumberCheck[]>>;
  info(jid: Jid): Promise<OperationResult<ContactInfo>>;
  setBlocked(jid: Jid, isBlocked: boolean): Promise<OperationResult<null>>;
  blocked(): Promise<OperationResult<Jid[]>>;
  /** Requests the phone's address book again; the contacts arrive as `contact_updated`. */
  synchronise(): Promise<OperationResult<null>>;
}

export interface ChatOperations {
  /** `last`: the newest message of the chat, to which the phone's record of some changes refers. */
  setState(chat: Jid, change: ChatState, last?: MessageRef & { at: Date }): Promise<OperationResult<null>>;
}

export interface ProfileOperations {
  get(): Promise<OperationResult<OwnProfile>>;
  setName(name: string): Promise<OperationResult<null>>;
  setAbout(text: string): Promise<OperationResult<null>>;
  /** JPEG, square; null removes it. */
  setPicture(image: Uint8Array | null): Promise<OperationResult<null>>;
}

export interface GroupOperations {
  /** All groups of the paired phone. */
  list(): Promise<OperationResult<Group[]>>;
  get(group: Jid): Promise<OperationResult<Group>>;
  create(
    subject: string,
    participants: readonly Jid[],
  ): Promise<OperationResult<{ group: Group; results: ParticipantResult[] }>>;
  updateParticipants(
    group: Jid,
    action: ParticipantAction,
    participants: readonly Jid[],
  ): Promise<OperationResult<ParticipantResult[]>>;
  update(group: Jid, change: GroupChange): Promise<OperationResult<null>>;
  /** The code of the invitation link. */
  invite(group: Jid): Promise<OperationResult<string>>;
  join(code: string): Promise<OperationResult<Jid>>;
  leave(group: Jid): Promise<OperationResult<null>>;
}

/**
 * The stage of a pairing's passkey ceremony: the browser signs, the phone responds, the user compares the
 * code, the phone links.
 */
export type PasskeyStage = "required" | "awaiting_phone" | "confirmation_required" | "finishing";

export interface PasskeyState {
  stage: PasskeyStage;
  /** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn; null once it is signed. */
  options: Record<string, unknown> | null;
  /** `XXXX-XXXX`, also shown on the phone; null until the phone has responded. */
  code: string | null;
  expires_at: Date;
}

/** The fields of WebAuthn's `credential.toJSON()` that the network requires; all binary values in base64url. */
export interface PasskeyAssertion {
  id: string;
  rawId: string;
  type: string;
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    userHandle: string | null;
  };
}

/** The passkey ceremony of a session in pairing; CONFLICT if the ceremony is not at this step. */
export interface PasskeyOperations {
  /** Resolves once the network has accepted or rejected the assertion. */
  submitAssertion(assertion: PasskeyAssertion): Promise<OperationResult<PasskeyStage>>;
  /** The user confirms that both sides show the same code. */
  confirm(): Promise<OperationResult<PasskeyStage>>;
  /** Ends the pairing. */
  cancel(): Promise<OperationResult<null>>;
}
