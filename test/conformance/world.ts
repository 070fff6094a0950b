import type { ChatState, GroupChange, ParticipantAction } from "../../src/network/calls.ts";
import type { Jid } from "../../src/network/driver.ts";
import type { Stage } from "./stage.ts";

export interface NewPerson {
  about?: string;
  picture?: Uint8Array;
  /** Nobody may put them into a group: 403. */
  refusesGroups?: boolean;
}

/** A group as the network has it. */
export interface GroupView {
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

/** What the paired phone shows of itself, and whom it has blocked, by digits. */
export interface PhoneView {
  name: string | null;
  about: string | null;
  has_picture: boolean;
  blocked: string[];
}

export type MemberChange = GroupChange | { action: ParticipantAction; who: string[] };

/** What else happens on the network; people are named by digits. */
export interface World {
  /** Somebody on the network with whom nobody has talked yet. */
  addPerson(person?: NewPerson): Promise<{ number: string; jid: Jid }>;
  /** A group of these people, the first of whom is its admin. */
  addGroup(subject: string, members: string[]): Promise<Jid>;
  group(group: Jid): Promise<GroupView>;
  /** A member changes a group. */
  changeGroup(by: string, group: Jid, change: MemberChange): Promise<void>;
  phone(): Promise<PhoneView>;
  /** What the paired phone shows of a chat, as far as it was ever changed. */
  chat(chat: Jid): Promise<ChatState>;
  /** The paired phone itself changes what it shows of a chat. */
  changeChat(chat: Jid, change: ChatState): Promise<void>;
  /** The paired phone writes somebody into its address book. */
  nameContact(number: string, name: string): Promise<void>;
  /** The calls of the contact that were rejected. */
  rejectedCalls(): Promise<string[]>;
}

export interface OperationStage extends Stage {
  readonly world: World;
}
