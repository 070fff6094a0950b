import { type BinaryNode, getBinaryNodeChildren } from "baileys";
import type { MessageId, MessageStatus, NetworkEvent } from "../driver.ts";
import type { People } from "./people.ts";
import { timeOf } from "./stanza.ts";

/** `inactive`: it has come to a device that nobody is looking at. */
const STATUS: Record<string, MessageStatus> = {
  "": "delivered",
  inactive: "delivered",
  read: "read",
  "read-self": "read",
  played: "played",
  "played-self": "played",
};

/** What a receipt of the network tells of our messages, or of those that our phone has read; undefined when nothing. */
export async function readReceipt(node: BinaryNode, people: People): Promise<NetworkEvent | undefined> {
  const { attrs } = node;
  const status = STATUS[attrs.type ?? ""];
  if (!status || !attrs.from || !attrs.id) return undefined;
  const isOwn = people.isMe(attrs.participant ?? attrs.from);
  // Our own devices tell of messages to us, unless it is ourselves that we write to.
  if (isOwn && status === "delivered") return undefined;
  const address = isOwn && attrs.recipient ? attrs.recipient : attrs.from;
  const chat = await people.chatOf(address, isOwn ? undefined : (attrs.sender_pn ?? attrs.sender_lid));
  if (!chat) return undefined;
  const from_me = !isOwn;
  return { type: "message_status", chat, ids: idsOf(node), from_me, status, at: timeOf(attrs.t) };
}

function idsOf({ attrs, content }: BinaryNode): MessageId[] {
  const list = Array.isArray(content) ? content[0] : undefined;
  const more = getBinaryNodeChildren(list, "item").map((item) => item.attrs.id);
  return [attrs.id, ...more].filter((id) => id !== undefined) as MessageId[];
}
