import type { Jid } from "../../src/network/driver.ts";
import type { ChatState, GroupChange, ParticipantAction } from "../../src/network/session-operations.ts";
import type { DriverHarness } from "./stage.ts";

export interface ConformancePerson {
  about?: string;
  picture?: Uint8Array;
  /** This contact cannot be added to groups: 403. */
  refusesGroups?: boolean;
}

/** The network's state of a group. */
export interface NetworkGroupView {
  subject: string;
  description: string | null;
  announce: boolean;
  locked: boolean;
  has_picture: boolean;
  /** The code of the invitation link. */
  invite: string;
  /** By digits: whether each is an admin. */
  members: Record<string, boolean>;
}

/** The visible profile of the paired phone, and the numbers it has blocked. */
export interface PairedPhoneView {
  name: string | null;
  about: string | null;
  has_picture: boolean;
  blocked: string[];
}

export type NetworkGroupChange = GroupChange | { action: ParticipantAction; who: string[] };

/** Other events on the network; contacts are identified by digits. */
export interface NetworkWorld {
  /** A contact on the network without any chat yet. */
  addPerson(person?: ConformancePerson): Promise<{ number: string; jid: Jid }>;
  /** A group of these contacts, the first of whom is its admin. */
  addGroup(subject: string, members: string[]): Promise<Jid>;
  group(group: Jid): Promise<NetworkGroupView>;
  /** A member changes a group. */
  changeGroup(by: string, group: Jid, change: NetworkGroupChange): Promise<void>;
  phone(): Promise<PairedPhoneView>;
  /** The paired phone's state of a chat, as far as it was ever changed. */
  chat(chat: Jid): Promise<ChatState>;
  /** The paired phone itself changes its state of a chat. */
  changeChat(chat: Jid, change: ChatState): Promise<void>;
  /** The paired phone adds a contact to its address book. */
  nameContact(number: string, name: string): Promise<void>;
  /** The contact's phone calls that were rejected. */
  rejectedPhoneCalls(): Promise<string[]>;
}

export interface OperationStage extends DriverHarness {
  readonly world: NetworkWorld;
}
