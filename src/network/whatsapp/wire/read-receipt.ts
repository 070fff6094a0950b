import { type BinaryNode, getBinaryNodeChildren } from "baileys";
import type { MessageId, MessageStatus, NetworkEvent } from "../../driver.ts";
import { isGroupJid } from "../../jid.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { isBroadcastList, parseTimestamp, STORIES } from "../stanzas/stanza.ts";

/** `inactive`: delivered to a device that is not in use. */
const STATUS: Record<string, MessageStatus> = {
  "": "delivered",
  inactive: "delivered",
  read: "read",
  "read-self": "read",
  played: "played",
  "played-self": "played",
};

type Receipt = StatusEvent | Extract<NetworkEvent, { type: "status_viewed" }>;

type StatusEvent = Extract<NetworkEvent, { type: "message_status" }>;

type MemberReceipt<Event> = Event & Required<Pick<StatusEvent, "ids" | "participant">>;

/** Maximum number of members in one stanza of the network. */
const MOST_MEMBERS = 2_048;

/** The statuses from a receipt for our messages, or for messages that our phone has read. */
export async function readReceipt(node: BinaryNode, identities: IdentityStore): Promise<Receipt[]> {
  const { attrs } = node;
  const status = STATUS[attrs.type ?? ""];
  if (!status || !attrs.from || !attrs.id) return [];
  if (attrs.from === STORIES) return readViews(node, status, identities);
  return readStatuses(node, status, identities);
}

async function readStatuses(
  node: BinaryNode,
  status: MessageStatus,
  identities: IdentityStore,
): Promise<StatusEvent[]> {
  const { attrs } = node;
  const { from = "" } = attrs;
  const isOwn = identities.isMe(attrs.participant ?? from);
  // Our own devices confirm messages to us; only in a chat with ourselves do they concern our own messages.
  if (isOwn && status === "delivered") return [];
  const common = { type: "message_status", from_me: !isOwn, status, at: parseTimestamp(attrs.t) } as const;
  if (!isOwn && isBroadcastList(from)) return readListReceipt(node, common, identities);
  const address = isOwn && attrs.recipient ? attrs.recipient : from;
  const alias = isOwn ? undefined : (attrs.sender_pn ?? attrs.sender_lid);
  const chat = await identities.chatOf(address, alias);
  if (!chat) return [];
  const event = { ...common, chat };
  return isOwn || !isGroupJid(chat) ? [{ ...event, ids: idsOf(node) }] : readMembers(node, event, identities);
}

/** Who has seen our stories. */
async function readViews(
  node: BinaryNode,
  status: MessageStatus,
  identities: IdentityStore,
): Promise<Receipt[]> {
  if (status === "delivered") return [];
  const common = { at: parseTimestamp(node.attrs.t) };
  const views = await readMembers(node, common, identities);
  return views
    .filter(({ participant }) => !identities.isMe(participant.jid))
    .map(({ participant: by, ids, at }) => ({ type: "status_viewed", ids, by, at }));
}

/** What our phone wrote to a list is in the chat with each recipient. */
async function readListReceipt(
  node: BinaryNode,
  common: Omit<StatusEvent, "ids" | "chat">,
  identities: IdentityStore,
): Promise<StatusEvent[]> {
  const receipts = await readMembers(node, common, identities);
  return receipts.map(({ participant, ...one }) => ({ ...one, chat: participant.jid }));
}

async function readMembers<Event>(
  node: BinaryNode,
  event: Event,
  identities: IdentityStore,
): Promise<MemberReceipt<Event>[]> {
  const grouped = getBinaryNodeChildren(node, "participants");
  if (grouped.length > 0) return readGrouped(grouped, event, identities);
  const { participant = "", participant_pn, participant_lid } = node.attrs;
  const who = await identities.identify(participant, participant_pn ?? participant_lid);
  return who ? [{ ...event, ids: idsOf(node), participant: who }] : [];
}

/** Receipts of many members that the network has combined, one list per message. */
async function readGrouped<Event>(
  lists: BinaryNode[],
  event: Event,
  identities: IdentityStore,
): Promise<MemberReceipt<Event>[]> {
  const receipts = lists
    .flatMap((list) =>
      getBinaryNodeChildren(list, "user").map(({ attrs }) => ({ id: list.attrs.key, attrs })),
    )
    .slice(0, MOST_MEMBERS);
  const who = await identities.identifyAll(
    receipts.map(({ attrs: { jid, participant_pn, participant_lid } }) => ({
      address: jid ?? "",
      other: participant_pn ?? participant_lid,
    })),
  );
  return receipts.flatMap(({ id, attrs }, nth) => {
    const participant = who[nth];
    if (!id || !participant || identities.isMe(participant.jid)) return [];
    const at = attrs.t ? { at: parseTimestamp(attrs.t) } : {};
    return [{ ...event, ids: [id as MessageId], participant, ...at }];
  });
}

function idsOf({ attrs, content }: BinaryNode): MessageId[] {
  const list = Array.isArray(content) ? content[0] : undefined;
  const more = getBinaryNodeChildren(list, "item").map((item) => item.attrs.id);
  return [attrs.id, ...more].filter((id) => id !== undefined) as MessageId[];
}
