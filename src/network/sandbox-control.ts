import type { Content, Jid, MessageId } from "./driver.ts";

/** Who acts, and in which chat of the paired phone. */
export interface Actor {
  /** Digits of the other person. */
  from: string;
  push_name?: string;
  /** In this group, and not in the chat with `from`. */
  group_jid?: Jid;
  /** The paired phone itself acts, in the chat with `from`. */
  from_me?: boolean;
}

export interface Incoming extends Actor {
  content: Content;
  /** The message that this one answers. */
  reply_to?: MessageId;
  /** A given id is kept, also when it has been used before. */
  id?: MessageId;
}

export type Scan =
  | { outcome: "scanned"; device: number; phone: string }
  /** Nothing awaits this QR or code any more. */
  | { outcome: "not_found" }
  | { outcome: "refused"; reason: string };

/** What phones and contacts do. `phone` is the paired number; false or undefined: no session is paired with it. */
export interface SandboxControl {
  /** Scans a QR, or enters a pairing code; without a phone with a unique number. */
  scan(qrOrCode: string, phone?: string): Promise<Scan>;
  receive(phone: string, message: Incoming): Promise<MessageId | undefined>;
  react(phone: string, act: Actor & { message_id: MessageId; reaction: string }): Promise<boolean>;
  edit(phone: string, act: Actor & { message_id: MessageId; text: string }): Promise<boolean>;
  delete(phone: string, act: Actor & { message_id: MessageId }): Promise<boolean>;
  read(phone: string, act: Actor & { message_ids: MessageId[] }): Promise<boolean>;
  /** Answers the id of the call. */
  call(phone: string, act: Actor & { video?: boolean }): Promise<string | undefined>;
  /** Cuts the connection; the session comes back by itself. */
  drop(phone: string): Promise<boolean>;
  ban(phone: string): Promise<boolean>;
  /** Unlinks the gateway on the phone. */
  unlink(phone: string): Promise<boolean>;
}
