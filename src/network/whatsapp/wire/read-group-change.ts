import { type BinaryNode, type GroupMetadata, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";
import type { Jid, NetworkEvent } from "../../driver.ts";
import type { GroupUpdate, ParticipantAction } from "../../groups.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { type ChatTimer, toTimer } from "../stanzas/chat-timer.ts";
import { plainJid } from "../stanzas/plain-jid.ts";
import { parseTimestamp } from "../stanzas/stanza.ts";
import { MEMBER_ADD, toGroup, toParticipants } from "./to-group.ts";

/** The event of a group notification; undefined for a group that we joined, which arrives as a whole. */
export async function readGroupChange(
  node: BinaryNode,
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  const { from, t, participant, participant_pn, participant_lid, notify } = node.attrs;
  const group = plainJid(from);
  if (!group || getBinaryNodeChild(node, "create")) return undefined;
  const requests = getBinaryNodeChild(node, "created_membership_requests");
  if (requests) return readJoinRequests(group, node, requests, identities);
  const by =
    participant && (await identities.identify(participant, participant_pn ?? participant_lid, notify));
  const changes = await Promise.all(childrenOf(node).map((node) => changeOf(node, identities)));
  const change: GroupUpdate = Object.assign({}, ...changes, by && { by });
  return { type: "group_updated", group, at: parseTimestamp(t), change };
}

/** The people whom the notification names, or its author, who asks for himself. */
async function readJoinRequests(
  group: Jid,
  { attrs: { t, participant = "", participant_pn, participant_lid } }: BinaryNode,
  requests: BinaryNode,
  identities: IdentityStore,
): Promise<NetworkEvent> {
  const named = getBinaryNodeChildren(requests, "requested_user").map(({ attrs }) => addressesIn(attrs));
  const author = { address: participant, other: participant_pn ?? participant_lid };
  const asking = named.length > 0 ? named : [author];
  await identities.learn(asking.map(({ address: jid, other }) => ({ jid, ...(other && { other }) })));
  const people = await identities.identifyAll(asking);
  return {
    type: "group_join_requested",
    group,
    at: parseTimestamp(t),
    who: people.filter((person) => person !== undefined),
    method: requests.attrs.request_method ?? null,
  };
}

/** The two addresses of a person as attributes of a node name them. */
export function addressesIn({ jid = "", phone_number, lid }: BinaryNode["attrs"]) {
  return { address: jid, other: phone_number ?? lid };
}

/** The timer that a notification of a group sets. */
export function readGroupTimer(notification: BinaryNode): ChatTimer | undefined {
  const [change] = childrenOf(notification);
  if (change?.tag !== "ephemeral" && change?.tag !== "not_ephemeral") return undefined;
  return toTimer(Number(change.attrs.expiration ?? 0), Number(notification.attrs.t));
}

/** The event of a group for which Baileys provides all data. */
export async function readWholeGroup(
  metadata: GroupMetadata,
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  const { author, authorPn } = metadata;
  const by = author && (await identities.identify(author, authorPn));
  const group = await toGroup(metadata, identities);
  return {
    type: "group_updated",
    group: group.jid,
    at: new Date(),
    change: { group, ...(by && { by }) },
  };
}

/** Other changes are not stored by the gateway, which may fetch the group again. */
async function changeOf(node: BinaryNode, identities: IdentityStore): Promise<GroupUpdate> {
  switch (node.tag) {
    case "add":
    case "remove":
    case "promote":
    case "demote":
      return membersOf(node, node.tag, identities);
    case "leave":
      return membersOf(node, "remove", identities);
    case "delete":
      return { left: true };
    case "subject":
      return node.attrs.subject === undefined ? {} : { subject: node.attrs.subject };
    case "description":
      return { description: getBinaryNodeChild(node, "body")?.content?.toString() || null };
    case "announcement":
    case "not_announcement":
      return { announce: node.tag === "announcement" };
    case "locked":
    case "unlocked":
      return { locked: node.tag === "locked" };
    case "membership_approval_mode":
      return { join_approval: getBinaryNodeChild(node, "group_join")?.attrs.state === "on" };
    case "member_add_mode":
      return { members_can_add: node.content?.toString() === MEMBER_ADD.everybody };
    default:
      return {};
  }
}

async function membersOf(
  node: BinaryNode,
  action: ParticipantAction,
  identities: IdentityStore,
): Promise<GroupUpdate> {
  const members = childrenOf(node).filter(({ tag }) => tag === "participant");
  const who = await toParticipants(
    members.map(({ attrs: { jid = "", phone_number, lid, type } }) => ({
      id: jid,
      ...(phone_number !== undefined && { phoneNumber: phone_number }),
      ...(lid !== undefined && { lid }),
      admin: type ?? null,
    })),
    identities,
  );
  const isLeft = action === "remove" && who.some(({ jid }) => identities.isMe(jid));
  return { participants: { action, who }, ...(isLeft && { left: true }) };
}

function childrenOf({ content }: BinaryNode): BinaryNode[] {
  return Array.isArray(content) ? content : [];
}
