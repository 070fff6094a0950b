import type { Product } from "./business.ts";
import type { InboundContent, Jid, MessageId } from "./driver.ts";
import type { GroupChange, ParticipantAction, ParticipantResult } from "./groups.ts";
import type {
  ChatState,
  ContactInfo,
  Label,
  LabelAssignment,
  OperationResult,
  Presence,
} from "./session-operations.ts";

/** The actor, and the chat of the paired phone in which they act. */
export interface SandboxActor {
  /** Digits of the other person. */
  from: string;
  push_name?: string;
  /** The actor acts in this group instead of the chat with `from`. */
  group_jid?: Jid;
  /** The paired phone itself acts, in the chat with `from`. */
  from_me?: boolean;
}

export interface SandboxMessage extends SandboxActor {
  content: InboundContent;
  /** The message to which this one replies. */
  reply_to?: MessageId;
  /** The message gets this id, even if the id was used before. */
  id?: MessageId;
}

export type ScanResult =
  | { outcome: "scanned"; device: number; phone: string }
  /** The QR or code has expired or was already used. */
  | { outcome: "not_found" }
  | { outcome: "refused"; reason: string };

/** `refused`: what the vote names is no poll, no option of it, or nobody who may vote. */
export type SandboxVoteResult =
  | { outcome: "voted" }
  | { outcome: "refused"; field: "message_id" | "options" | "from"; reason: string };

/** Changes of a person's data; absent fields stay unchanged. */
export interface SandboxPersonChange {
  /** In the address book of the paired phone. */
  name?: string | null;
  /** The profile name. */
  push_name?: string | null;
  about?: string | null;
  picture_url?: string | null;
  /** Set for businesses. */
  verified_name?: string | null;
  business?: ContactInfo["business"];
  catalog?: Product[] | null;
  /** Which of the person's addresses the paired phone receives. */
  known?: "both" | "phone" | "lid";
}

/** A person's data in the network and on the paired phone. */
export interface SandboxPersonView extends Required<SandboxPersonChange> {
  jid: Jid;
  lid: Jid;
  is_blocked: boolean;
}

/** A new group; people are identified by their digits. */
export interface NewSandboxGroup {
  from: string;
  subject: string;
  participants: string[];
  /** The members that become admins, besides the creator. */
  admins: string[];
}

/**
 * Actions of phones and contacts in the network of one account; other accounts' data is out of reach. `phone`
 * is the paired number. A result of false or undefined means that no session of this account is paired with
 * it.
 */
export interface SandboxControl {
  /** Scans a QR or enters a pairing code; without a phone, with a free number. */
  scan(qrOrCode: string, phone?: string): Promise<ScanResult>;
  receive(phone: string, message: SandboxMessage): Promise<MessageId | undefined>;
  /** A person posts a story, which the paired phone sees. */
  postStatus(
    phone: string,
    story: Pick<SandboxMessage, "from" | "push_name" | "content">,
  ): Promise<MessageId | undefined>;
  /** A person sees a story of the paired phone. */
  viewStatus(phone: string, from: string, id: MessageId): Promise<boolean>;
  react(phone: string, act: SandboxActor & { message_id: MessageId; reaction: string }): Promise<boolean>;
  /** Votes with texts or ids of options; none: withdraws the vote. */
  vote(
    phone: string,
    act: SandboxActor & { message_id: MessageId; options: readonly string[] },
  ): Promise<SandboxVoteResult | undefined>;
  edit(phone: string, act: SandboxActor & { message_id: MessageId; text: string }): Promise<boolean>;
  delete(phone: string, act: SandboxActor & { message_id: MessageId }): Promise<boolean>;
  read(phone: string, act: SandboxActor & { message_ids: MessageId[] }): Promise<boolean>;
  /** Returns the id of the call. */
  startPhoneCall(phone: string, act: SandboxActor & { video?: boolean }): Promise<string | undefined>;
  /** A person shows a presence to the paired phone. */
  showPresence(
    phone: string,
    act: SandboxActor & { presence: Presence; last_seen_at?: Date | null },
  ): Promise<boolean>;
  /** Cuts the connection; the session reconnects automatically. */
  drop(phone: string): Promise<boolean>;
  ban(phone: string): Promise<boolean>;
  /** Unlinks the gateway on the phone. */
  unlink(phone: string): Promise<boolean>;
  /** Changes a person's data, and notifies the paired phone. */
  setPerson(phone: string, from: string, change: SandboxPersonChange): Promise<SandboxPersonView | undefined>;
  /** Changes the chat state on the phone itself; returns the whole new state. */
  changeChat(phone: string, chat: Jid, change: ChatState): Promise<Required<ChatState> | undefined>;
  /** Changes or deletes a label on the phone itself. */
  changeLabel(phone: string, label: Label, is_deleted: boolean): Promise<boolean>;
  /** Gives a label to a chat or a message on the phone itself, or takes it. */
  assignLabel(phone: string, assignment: LabelAssignment): Promise<boolean>;
  /** A person creates a group. */
  createGroup(group: NewSandboxGroup): Promise<Jid>;
  /** A person changes the members of a group. */
  changeParticipants(
    group: Jid,
    from: string,
    action: ParticipantAction,
    participants: string[],
  ): Promise<OperationResult<ParticipantResult[]>>;
  /** A person uses the invitation of a group. Returns whether an admin must approve it. */
  joinGroup(group: Jid, from: string): Promise<OperationResult<{ is_waiting: boolean }>>;
  /** A person changes one setting of a group. */
  changeGroup(group: Jid, from: string, change: GroupChange): Promise<OperationResult<null>>;
  /**
   * Deletes the copies of these messages, and the logged content of these phones. If the writer is null,
   * finds the writer by the message id; returns the phones found so.
   */
  deleteCopies(
    phones: readonly string[],
    messages: readonly { writer: string | null; id: string }[],
  ): Promise<string[]>;
  /** Deletes people, address books and groups. The account's phones stay linked. */
  deletePeople(): Promise<void>;
  /** Deletes the person with these addresses: their profile, messages, and place in address books and groups. */
  deletePerson(addresses: readonly string[]): Promise<void>;
  /** Deletes all data of the account: devices, people, groups, messages and files. */
  deleteAccount(): Promise<void>;
  /** Unlinks a phone that no instance uses any longer, and deletes its data. */
  deletePhone(phone: string): Promise<void>;
}
