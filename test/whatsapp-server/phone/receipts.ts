import type { Companion } from "../companion.ts";
import type { Address, BroadcastList } from "../group.ts";
import { Handset } from "../handset.ts";
import type { Device, ServerPerson } from "../person.ts";
import { type BinaryNode, node, seconds } from "../protocol/nodes.ts";
import { addressJid } from "./envelope.ts";

export interface ServerReceipt {
  by: Device;
  /** Sender of the messages. */
  of: ServerPerson;
  /** Chat of the messages. */
  chat: Address;
  /** Broadcast list of the messages. */
  list?: BroadcastList | undefined;
  ids: string[];
  /** Delivered if absent. */
  type?: string;
  content?: BinaryNode[];
  /** Notified device; all of them if absent. */
  device?: Device;
}

/** Sends a receipt to the sender's devices. */
export function sendReceipt(receipt: ServerReceipt): void {
  const { of, device } = receipt;
  for (const one of device ? [device] : of.devices) {
    if (one instanceof Handset) noteReceipt(one, receipt);
    else one.deliver(receiptStanza(receipt, one));
  }
}

function noteReceipt(handset: Handset, { by, chat, ids, type }: ServerReceipt): void {
  const seen = type === "read" || type === "played" ? type : "delivered";
  if (type === "retry" || by.person === handset.person) return;
  handset.see({
    type: seen,
    ids,
    chat: chat.kind === "group" ? chat.group.jid : by.person.jid(),
    from: by.person.phone,
    from_me: false,
    at: Date.now(),
  });
}

function receiptStanza(
  { by, chat, list: through, ids, type, content }: ServerReceipt,
  to: Companion,
): BinaryNode {
  const device = type === "retry" ? by.number : 0;
  const { addressing } = through ?? (chat.kind === "group" ? chat.group : chat);
  const jid = by.person.jid(addressing, device);
  const whole = through?.jid ?? (chat.kind === "group" ? chat.group.jid : undefined);
  const whence = whole === undefined ? { from: jid } : { from: whole, participant: jid };
  const own = by.person === to.person ? { recipient: addressJid(chat) } : {};
  const rest = ids.slice(1).map((id) => node("item", { id }));
  const list = rest.length > 0 ? [node("list", {}, rest)] : [];
  return node("receipt", { id: ids[0], t: seconds(), type, ...whence, ...own }, [
    ...list,
    ...(content ?? []),
  ]);
}
