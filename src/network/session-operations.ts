import type { BusinessHours, CatalogPage } from "./business.ts";
import type { StatusContent } from "./content.ts";
import type {
  Group,
  GroupChange,
  GroupPreview,
  JoinRequest,
  JoinRequestAction,
  ParticipantAction,
  ParticipantResult,
} from "./groups.ts";
import type { Identity, Jid, MessageId, MessageRef } from "./identity.ts";
import type { SendResult } from "./send-result.ts";

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
    hours?: BusinessHours;
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

/** Names in the phone's address book. */
export interface ContactName {
  first_name: string;
  last_name: string | null;
}

/** A label of the phone; `color` is the network's number of a colour. */
export interface Label {
  id: string;
  name: string;
  color: number;
}

/** Whether a chat has a label, or one message in it. */
export interface LabelAssignment {
  label_id: string;
  chat: Jid;
  message_id: MessageId | null;
  labelled: boolean;
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

export type Presence = "available" | "unavailable" | "typing" | "recording" | "paused";

interface OperationOptions {
  /** The state of a session in which it can run the operation. */
  during: "connection" | "pairing";
  /** The outcome if nothing was done because the node of the session is unreachable. */
  unreachable: "unreachable" | "not_sent";
  /** Its last argument may be absent. */
  isLastOptional: boolean;
}

/** An operation as the table declares it. */
export interface DeclaredOperation<Run> extends OperationOptions {
  /** For the compiler only: the signature. */
  run?: Run;
}

function operation<Args extends unknown[], Value>(
  options: Partial<OperationOptions> = {},
): DeclaredOperation<(...args: Args) => Promise<OperationResult<Value>>> {
  return { ...DEFAULT_OPTIONS, ...options };
}

const DEFAULT_OPTIONS: OperationOptions = {
  during: "connection",
  unreachable: "unreachable",
  isLastOptional: false,
};

const PAIRING = { during: "pairing" } as const;

/**
 * Every session operation: its name, arguments and result. From this table follow the types, what a node can request of
 * another node, and NOT_SUPPORTED for what a session does not implement.
 */
export const SESSION_OPERATIONS = {
  /** Shows a presence in a chat, or that of the account. */
  setPresence: { ...DEFAULT_OPTIONS, unreachable: "not_sent", isLastOptional: true } as DeclaredOperation<
    (presence: Presence, to?: Jid) => Promise<SendResult>
  >,
  contacts: {
    /** Takes digits; returns one result per number, in order. */
    check: operation<[numbers: readonly string[]], NumberCheck[]>(),
    info: operation<[jid: Jid], ContactInfo>(),
    /** Adds a person to the phone's address book, or renames one there. */
    save: operation<[jid: Jid, name: ContactName], Identity>(),
    setBlocked: operation<[jid: Jid, isBlocked: boolean], null>(),
    blocked: operation<[], Jid[]>(),
    /** Requests the phone's address book again; the contacts arrive as `contact_updated`. */
    synchronise: operation<[], null>(),
  },
  chats: {
    /** `last`: the newest message of the chat, to which the phone's record of some changes refers. */
    setState: operation<[chat: Jid, change: ChatState, last?: MessageRef & { at: Date }], null>({
      isLastOptional: true,
    }),
  },
  labels: {
    /** All labels of the phone; it reports them again with their chats. */
    list: operation<[], Label[]>(),
    /** Creates the label, or changes the one with its id. */
    save: operation<[label: Label], null>(),
    delete: operation<[label: Label], null>(),
    assign: operation<[assignment: LabelAssignment], null>(),
  },
  statuses: {
    /** Shows a story to these people for a day; resolves with the time of the network's ack. */
    send: operation<[content: StatusContent, audience: readonly Jid[], id: MessageId], Date>(),
  },
  profile: {
    get: operation<[], OwnProfile>(),
    setName: operation<[name: string], null>(),
    setAbout: operation<[text: string], null>(),
    /** JPEG, square; null removes it. */
    setPicture: operation<[image: Uint8Array | null], null>(),
    /** With the network's words, such as `last` and `contacts`. */
    setPrivacy: operation<[setting: string, value: string], null>(),
  },
  business: {
    /** Null: of the paired phone. NOT_FOUND for a person without a catalogue. */
    catalog: operation<[jid: Jid | null, page: { limit: number; cursor: string | null }], CatalogPage>(),
  },
  presence: {
    /** Reports the presence of a person, or of the members of a group, until `expires_at`. RATE_LIMITED at the limit. */
    subscribe: operation<[chat: Jid], { expires_at: Date }>(),
  },
  groups: {
    /** All groups of the paired phone. */
    list: operation<[], Group[]>(),
    get: operation<[group: Jid], Group>(),
    create: operation<
      [subject: string, participants: readonly Jid[]],
      { group: Group; results: ParticipantResult[] }
    >(),
    updateParticipants: operation<
      [group: Jid, action: ParticipantAction, participants: readonly Jid[]],
      ParticipantResult[]
    >(),
    update: operation<[group: Jid, change: GroupChange], null>(),
    /** The code of the invitation link. */
    invite: operation<[group: Jid], string>(),
    /** Makes the invitation invalid, and returns the code of the new one. */
    revokeInvite: operation<[group: Jid], string>(),
    preview: operation<[code: string], GroupPreview>(),
    /** CONFLICT if an admin must approve it: the request is then made. */
    join: operation<[code: string], Jid>(),
    requests: operation<[group: Jid], JoinRequest[]>(),
    /** The status of a person who has not asked is 404. */
    updateRequests: operation<
      [group: Jid, action: JoinRequestAction, people: readonly Jid[]],
      ParticipantResult[]
    >(),
    leave: operation<[group: Jid], null>(),
  },
  /** The passkey ceremony; CONFLICT if the ceremony is not at this step. */
  passkey: {
    /** Resolves once the network has accepted or rejected the assertion. */
    submitAssertion: operation<[assertion: PasskeyAssertion], PasskeyStage>(PAIRING),
    /** The user confirms that both sides show the same code. */
    confirm: operation<[], PasskeyStage>(PAIRING),
    /** Ends the pairing. */
    cancel: operation<[], null>(PAIRING),
  },
};

type OperationsOf<Declared> =
  Declared extends DeclaredOperation<infer Run>
    ? Run
    : { [Name in keyof Declared]: Declared[Name] extends DeclaredOperation<infer Run> ? Run : never };

/** What a session implements of the operations. Absent: the network lacks the capability. */
export type SessionOperations = {
  readonly [Name in keyof typeof SESSION_OPERATIONS]?: OperationsOf<(typeof SESSION_OPERATIONS)[Name]>;
};

/** A session on this node or another. What it does not implement returns NOT_SUPPORTED. */
export type ReachableSession = Required<SessionOperations>;

export type ContactOperations = ReachableSession["contacts"];
export type ChatOperations = ReachableSession["chats"];
export type LabelOperations = ReachableSession["labels"];
export type StatusOperations = ReachableSession["statuses"];
export type ProfileOperations = ReachableSession["profile"];
export type GroupOperations = ReachableSession["groups"];
export type BusinessOperations = ReachableSession["business"];
export type PresenceOperations = ReachableSession["presence"];
export type PasskeyOperations = ReachableSession["passkey"];
