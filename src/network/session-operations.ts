import type { Identity, Jid, MessageRef } from "./identity.ts";

/** How a call that leaves no row ended. `refused` is the network's word; `failed`: no answer, and a later try is safe. */
export type OperationResult<Value> =
  | { outcome: "done"; value: Value }
  | { outcome: "refused"; code: OperationErrorCode; reason: string; retry_after_seconds?: number }
  | { outcome: "failed"; reason: string }
  /** The process that has the session cannot be asked just now; nothing was done. */
  | { outcome: "unreachable"; reason: string }
  /** That process was asked and did not answer: it may have been done. */
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

/** Whether a number is on the network, and who that is. */
export interface NumberCheck {
  /** As it was asked: digits only. */
  number: string;
  jid: Jid | null;
  lid: Jid | null;
  /** Of a business. */
  verified_name: string | null;
}

/** Null where the network tells nothing, or may not. */
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

/** What became known of somebody: a name in the phone's address book, a name of their own, the other address. */
export interface ContactUpdate {
  jid: Jid | null;
  lid: Jid | null;
  phone: string | null;
  /** In the phone's address book; null: nothing was told. */
  name: string | null;
  push_name: string | null;
  verified_name: string | null;
}

/** What a phone shows of a chat; what is absent has not changed. */
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
  /** By the network's words, such as `last` or `groupadd`. */
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
  /** Only admins write. */
  announce: boolean;
  /** Only admins change the settings. */
  locked: boolean;
  created_at: Date | null;
  participants: GroupParticipant[];
}

export type ParticipantAction = "add" | "remove" | "promote" | "demote";

/** What changed in a group, as far as the network tells; an empty one says "look again". */
export interface GroupUpdate {
  subject?: string;
  description?: string | null;
  announce?: boolean;
  locked?: boolean;
  participants?: { action: ParticipantAction; who: GroupParticipant[] };
  /** The whole group as it is now. */
  group?: Group;
  /** We are not in it any more. */
  left?: boolean;
  by?: Identity;
}

/** One person's result, by the network's code (200 done, 403 refuses invitations, 404 unknown, 409 is in it already ...). */
export interface ParticipantResult {
  jid: Jid;
  status: number;
}

/** One change at a time, so that each has a result of its own. */
export type GroupChange =
  | { subject: string }
  | { description: string }
  | { image: Uint8Array | null }
  | { announce: boolean }
  | { locked: boolean };

export interface ContactOperations {
  /** Digits in, one answer each, in order. */
  check(numbers: readonly string[]): Promise<OperationResult<NumberCheck[]>>;
  info(jid: Jid): Promise<OperationResult<ContactInfo>>;
  setBlocked(jid: Jid, isBlocked: boolean): Promise<OperationResult<null>>;
  blocked(): Promise<OperationResult<Jid[]>>;
  /** Asks for the phone's address book again; it comes as `contact_updated`. */
  synchronise(): Promise<OperationResult<null>>;
}

export interface ChatOperations {
  /** `last`: the newest message of the chat, which the phone's record of some changes names. */
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
  /** All that the paired phone is in. */
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
 * How far the passkey ceremony of a pairing has come: the browser signs, the phone answers, a person compares the code,
 * the phone links.
 */
export type PasskeyStage = "required" | "awaiting_phone" | "confirmation_required" | "finishing";

export interface PasskeyState {
  stage: PasskeyStage;
  /** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn; null once it is signed. */
  options: Record<string, unknown> | null;
  /** `XXXX-XXXX`, also shown on the phone; null until the phone has answered. */
  code: string | null;
  expires_at: Date;
}

/** What WebAuthn's `credential.toJSON()` returns, as far as the network wants it; all binary in base64url. */
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

/** The passkey ceremony of a session that is being paired; refused with CONFLICT where nothing waits for the call. */
export interface PasskeyOperations {
  /** Resolves once the network has taken or refused the assertion. */
  submitAssertion(assertion: PasskeyAssertion): Promise<OperationResult<PasskeyStage>>;
  /** The code is the same on both sides. */
  confirm(): Promise<OperationResult<PasskeyStage>>;
  /** Ends the pairing. */
  cancel(): Promise<OperationResult<null>>;
}
