import type {
  Content,
  CredentialStore,
  InboundContent,
  Jid,
  MediaType,
  MessageId,
  NetworkDriver,
} from "../../src/network/driver.ts";
import type { GroupChange, ParticipantAction } from "../../src/network/groups.ts";
import type { ChatState, Label, LabelAssignment, Presence } from "../../src/network/session-operations.ts";

/** The phone with which the gateway is paired. */
export interface PhoneControls {
  /** Digits. */
  readonly number: string;
  scan(qr: string): Promise<void>;
  enterCode(code: string): Promise<void>;
  drop(): Promise<void>;
  ban(): Promise<void>;
  /** The phone itself, or another device of it, stars a message of the contact, or removes the star. */
  star(id: MessageId, starred: boolean): Promise<void>;
  /** Removes the gateway from the linked devices. */
  unlink(): Promise<void>;
}

/** What the contact received from the gateway. */
export type ContactObservation =
  | { type: "message"; id: MessageId; content: InboundContent }
  | { type: "edited"; id: MessageId; text: string; media_type?: MediaType }
  | { type: "deleted"; id: MessageId }
  | { type: "reaction"; id: MessageId; reaction: string }
  | { type: "pinned"; id: MessageId; seconds: number }
  | { type: "read"; ids: MessageId[] }
  | { type: "played"; ids: MessageId[] };

/** A contact on the network. */
export interface ContactControls {
  readonly jid: Jid;
  /** Digits. */
  readonly number: string;
  sendMessage(content: Content, options?: { group?: boolean }): Promise<MessageId>;
  editMessage(id: MessageId, text: string): Promise<void>;
  deleteMessage(id: MessageId): Promise<void>;
  reactTo(id: MessageId, reaction: string): Promise<void>;
  /** Zero seconds unpin it. */
  pin(id: MessageId, seconds: number): Promise<void>;
  markRead(id: MessageId): Promise<void>;
  startPhoneCall(): Promise<void>;
  /** Posts a story that the paired phone may see. */
  postStory(text: string): Promise<MessageId>;
  /** Sees a story. */
  viewStory(id: MessageId): Promise<void>;
  /** The stories that the contact got. */
  stories(): Promise<{ id: MessageId; content: InboundContent }[]>;
  observed(): Promise<ContactObservation[]>;
  file(id: MessageId): Promise<Uint8Array | undefined>;
}

/** A driver with a network that a test can control. */
export interface DriverHarness {
  readonly driver: NetworkDriver;
  credentials(): CredentialStore;
  readonly phone: PhoneControls;
  readonly contact: ContactControls;
  /** A number that is not on the network. */
  readonly unregisteredJid: Jid;
  /** How often a message with this id reached the network. */
  countDeliveries(id: MessageId): Promise<number>;
  /** The network deletes its stored files. */
  expireFiles(): Promise<void>;
  stop(): Promise<void>;
}

export interface DriverHarnessOptions {
  /** QR codes that expire after some tens of milliseconds. */
  shortQr?: boolean;
}

export interface ConformancePerson {
  about?: string;
  picture?: Uint8Array;
  /** Refuses to be added to groups, with 403. */
  refusesGroups?: boolean;
  /** The products of a business. */
  catalog?: { id: string; name: string; description?: string; price?: number; currency?: string }[];
}

export interface NetworkGroupView {
  subject: string;
  description: string | null;
  announce: boolean;
  locked: boolean;
  join_approval: boolean;
  members_can_add: boolean;
  has_picture: boolean;
  /** By digits: who waits for an admin's approval. */
  requests: string[];
  /** Code of the invitation link. */
  invite: string;
  /** Admin flag by digits. */
  members: Record<string, boolean>;
}

/** Profile and blocked numbers of the paired phone. */
export interface PairedPhoneView {
  name: string | null;
  about: string | null;
  has_picture: boolean;
  blocked: string[];
}

export type NetworkGroupChange = GroupChange | { action: ParticipantAction; who: string[] };

/** Other actions on the network. Contacts are identified by digits. */
export interface NetworkControls {
  /** A contact without chats. */
  addPerson(person?: ConformancePerson): Promise<{ number: string; jid: Jid }>;
  /** Creates a group whose first member is its admin. */
  addGroup(subject: string, members: string[]): Promise<Jid>;
  group(group: Jid): Promise<NetworkGroupView>;
  changeGroup(by: string, group: Jid, change: NetworkGroupChange): Promise<void>;
  /** A person uses the invitation of a group. */
  joinGroup(by: string, group: Jid): Promise<void>;
  phone(): Promise<PairedPhoneView>;
  /** The paired phone's state of a chat: the fields that were ever changed. */
  chat(chat: Jid): Promise<ChatState>;
  changeChat(chat: Jid, change: ChatState): Promise<void>;
  /** The labels of the paired phone, each with its chats, and with its messages as `chat/id`. */
  labels(): Promise<Record<string, Omit<Label, "id"> & { on: string[] }>>;
  /** The paired phone itself changes or deletes a label. */
  changeLabel(label: Label, isDeleted: boolean): Promise<void>;
  assignLabel(assignment: LabelAssignment): Promise<void>;
  nameContact(number: string, name: string): Promise<void>;
  /** The name of a person in the phone's address book. */
  contactName(number: string): Promise<string | null>;
  /** A person shows a presence to the paired phone, or to a group. */
  showPresence(by: string, presence: Presence, group?: Jid): Promise<void>;
  rejectedPhoneCalls(): Promise<string[]>;
}

export interface OperationStage extends DriverHarness {
  readonly world: NetworkControls;
}
