import type { Content, Jid, MessageId } from "./driver.ts";
import type {
  ChatState,
  ContactInfo,
  GroupChange,
  OperationResult,
  ParticipantAction,
  ParticipantResult,
} from "./session-operations.ts";

/** Who acts, and in which chat of the paired phone. */
export interface SandboxActor {
  /** Digits of the other person. */
  from: string;
  push_name?: string;
  /** In this group, and not in the chat with `from`. */
  group_jid?: Jid;
  /** The paired phone itself acts, in the chat with `from`. */
  from_me?: boolean;
}

export interface SandboxMessage extends SandboxActor {
  content: Content;
  /** The message that this one answers. */
  reply_to?: MessageId;
  /** A given id is kept, also when it has been used before. */
  id?: MessageId;
}

export type ScanResult =
  | { outcome: "scanned"; device: number; phone: string }
  /** Nothing awaits this QR or code any more. */
  | { outcome: "not_found" }
  | { outcome: "refused"; reason: string };

/** What is to be known of somebody; what is absent stays. */
export interface SandboxPersonChange {
  /** In the address book of the paired phone. */
  name?: string | null;
  /** The name that they go by. */
  push_name?: string | null;
  about?: string | null;
  picture_url?: string | null;
  /** Of a business. */
  verified_name?: string | null;
  business?: ContactInfo["business"];
  /** Which of their addresses the paired phone is told. */
  known?: "both" | "phone" | "lid";
}

/** Somebody as the network and the paired phone have them. */
export interface SandboxPersonView extends Required<SandboxPersonChange> {
  jid: Jid;
  lid: Jid;
  is_blocked: boolean;
}

/** A group that somebody makes; people are named by their digits. */
export interface NewSandboxGroup {
  from: string;
  subject: string;
  participants: string[];
  /** Those of them who are admins, beside who made it. */
  admins: string[];
}

/**
 * What phones and contacts do in the network of one account; what other accounts have there is out of its reach. `phone`
 * is the paired number; false or undefined: no session of this account is paired with it.
 */
export interface SandboxControl {
  /** Scans a QR, or enters a pairing code; without a phone with a number that is free. */
  scan(qrOrCode: string, phone?: string): Promise<ScanResult>;
  receive(phone: string, message: SandboxMessage): Promise<MessageId | undefined>;
  react(phone: string, act: SandboxActor & { message_id: MessageId; reaction: string }): Promise<boolean>;
  edit(phone: string, act: SandboxActor & { message_id: MessageId; text: string }): Promise<boolean>;
  delete(phone: string, act: SandboxActor & { message_id: MessageId }): Promise<boolean>;
  read(phone: string, act: SandboxActor & { message_ids: MessageId[] }): Promise<boolean>;
  /** Answers the id of the call. */
  call(phone: string, act: SandboxActor & { video?: boolean }): Promise<string | undefined>;
  /** Cuts the connection; the session comes back by itself. */
  drop(phone: string): Promise<boolean>;
  ban(phone: string): Promise<boolean>;
  /** Unlinks the gateway on the phone. */
  unlink(phone: string): Promise<boolean>;
  /** Changes what is known of somebody, and tells the paired phone. */
  setPerson(phone: string, from: string, change: SandboxPersonChange): Promise<SandboxPersonView | undefined>;
  /** The phone itself changes what it shows of a chat; answers all that it shows. */
  changeChat(phone: string, chat: Jid, change: ChatState): Promise<Required<ChatState> | undefined>;
  /** Somebody makes a group. */
  createGroup(group: NewSandboxGroup): Promise<Jid>;
  /** Somebody changes who is in a group. */
  changeParticipants(
    group: Jid,
    from: string,
    action: ParticipantAction,
    participants: string[],
  ): Promise<OperationResult<ParticipantResult[]>>;
  /** Somebody changes one setting of a group. */
  changeGroup(group: Jid, from: string, change: GroupChange): Promise<OperationResult<null>>;
  /**
   * Drops the copies of these messages, and what was noted of the traffic of these phones. Where the writer is null it is
   * looked for by the message alone; answers the phones that were found so.
   */
  forget(
    phones: readonly string[],
    messages: readonly { writer: string | null; id: string }[],
  ): Promise<string[]>;
  /** Drops everything that the account has here: its devices, people, groups, messages and files. */
  forgetAccount(): Promise<void>;
  /** Unlinks a phone that nobody answers for any more, and drops what is kept of it. */
  forgetPhone(phone: string): Promise<void>;
}
