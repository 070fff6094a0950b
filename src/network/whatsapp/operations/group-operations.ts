import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";
import type { Jid } from "../../driver.ts";
import type { Group, GroupChange, GroupPreview, ParticipantAction, ParticipantResult } from "../../groups.ts";
import { groupJid, phoneJid } from "../../jid.ts";
import type { GroupOperations } from "../../session-operations.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { plainJid } from "../stanzas/plain-jid.ts";
import { MEMBER_ADD, toGroup, toGroupPreview } from "../wire/to-group.ts";
import { GROUP_ACCESS_DENIED_CODES, NOT_IN_GROUP } from "../wire/whatsapp-error.ts";
import { answerJoinRequests, listJoinRequests } from "./join-requests.ts";
import type { OperationContext } from "./operation-context.ts";
import { errorCodeOf, OperationError, toOperationError } from "./operation-error.ts";
import { setProfilePicture } from "./set-profile-picture.ts";

export function createGroupOperations(context: OperationContext): GroupOperations {
  const { pending } = context;
  return {
    list: () => pending.run(() => list(context)),
    get: (group) => pending.run(() => get(context, group)),
    create: (subject, identities) => pending.run(() => create(context, subject, identities)),
    updateParticipants: (group, action, identities) =>
      pending.run(() => updateParticipants(context, group, action, identities)),
    update: (group, change) => pending.run(() => update(context, group, change)),
    invite: (group) => pending.run(() => invite(context, group)),
    revokeInvite: (group) => pending.run(() => revokeInvite(context, group)),
    preview: (code) => pending.run(() => preview(context, code)),
    requests: (group) => pending.run(() => listJoinRequests(context, group)),
    updateRequests: (group, action, people) =>
      pending.run(async () => {
        const nodes = await answerJoinRequests(context, group, action, people);
        return resultsOf(people, nodes, context.identities);
      }),
    join: (code) => pending.run(() => join(context, code)),
    leave: (group) => pending.run(() => leave(context, group)),
  };
}

/** One query, however many groups there are. */
async function list({ sock, groupMetadata, identities }: OperationContext): Promise<Group[]> {
  const all = Object.values(await sock.groupFetchAllParticipating());
  for (const metadata of all) groupMetadata.set(metadata);
  const shaped: Group[] = [];
  for (const metadata of all) shaped.push(await toGroup(metadata, identities));
  return shaped;
}

async function get({ sock, groupMetadata, identities }: OperationContext, group: Jid): Promise<Group> {
  groupMetadata.delete(group);
  return toGroup(await groupMetadata.get(group, () => sock.groupMetadata(group)), identities);
}

async function create(context: OperationContext, subject: string, participants: readonly Jid[]) {
  const { identities } = context;
  const members = await newMembers(participants, identities);
  const response = await queryGroups(context, {
    tag: "create",
    attrs: { subject },
    content: [...members, ...NEW_GROUP_SETTINGS],
  });
  // Baileys counts the people whom the network rejected among the members.
  const made = getBinaryNodeChild(response, "group");
  const id = made?.attrs.id;
  if (!made || !id) throw new Error("The network returned no id of the new group.");
  const results = await resultsOf(participants, getBinaryNodeChildren(made, "participant"), identities);
  return { group: await get(context, plainJid(id) ?? groupJid(id)), results };
}

/** The settings of a new group, which WhatsApp Web always names. */
const NEW_GROUP_SETTINGS: BinaryNode[] = [
  { tag: "member_add_mode", attrs: {}, content: MEMBER_ADD.everybody },
  { tag: "ephemeral", attrs: { expiration: "0" } },
  { tag: "membership_approval_mode", attrs: {}, content: [{ tag: "group_join", attrs: { state: "off" } }] },
];

/** Groups identify people by LID, with the phone number beside it; by number alone if the LID is unknown. */
async function newMembers(participants: readonly Jid[], identities: IdentityStore): Promise<BinaryNode[]> {
  const people = await identities.identifyAll(participants.map((address) => ({ address })));
  return participants.map((jid, i) => {
    const { lid, phone } = people[i] ?? {};
    if (!lid) return { tag: "participant", attrs: { jid } };
    return { tag: "participant", attrs: { jid: lid, ...(phone && { phone_number: phoneJid(phone) }) } };
  });
}

async function updateParticipants(
  { sock, groupMetadata, identities }: OperationContext,
  group: Jid,
  action: ParticipantAction,
  participants: readonly Jid[],
): Promise<ParticipantResult[]> {
  const nodes = await sock.groupParticipantsUpdate(group, [...participants], action);
  groupMetadata.delete(group);
  return resultsOf(
    participants,
    nodes.map(({ content }) => content),
    identities,
  );
}

/** Status of a person whom the response omits: nothing is known to have happened. */
const NO_RESPONSE = 500;

/** In the order of the request, under the address given for each person. */
async function resultsOf(
  requested: readonly Jid[],
  nodes: readonly BinaryNode[],
  identities: IdentityStore,
): Promise<ParticipantResult[]> {
  const statuses = new Map<string, number>();
  for (const { attrs } of nodes) {
    for (const address of [attrs.jid, attrs.phone_number, attrs.lid]) {
      const jid = plainJid(address);
      if (jid) statuses.set(jid, attrs.error === undefined ? 200 : Number(attrs.error));
    }
  }
  const known = await identities.identifyAll(requested.map((address) => ({ address })));
  return requested.map((jid, i) => {
    const addresses = [jid, known[i]?.jid, known[i]?.lid];
    const status = addresses.map((one) => statuses.get(one ?? "")).find((one) => one !== undefined);
    return { jid, status: status ?? NO_RESPONSE };
  });
}

async function update(context: OperationContext, group: Jid, change: GroupChange): Promise<null> {
  await applyChange(context, group, change);
  context.groupMetadata.delete(group);
  return null;
}

async function applyChange({ sock }: OperationContext, group: Jid, change: GroupChange): Promise<void> {
  if ("subject" in change) await sock.groupUpdateSubject(group, change.subject);
  else if ("description" in change) await sock.groupUpdateDescription(group, change.description || undefined);
  else if ("image" in change) await setProfilePicture(sock, change.image, group);
  else if ("join_approval" in change) {
    await sock.groupJoinApprovalMode(group, change.join_approval ? "on" : "off");
  } else if ("members_can_add" in change) {
    await sock.groupMemberAddMode(group, MEMBER_ADD[change.members_can_add ? "everybody" : "admins"]);
  } else await sock.groupSettingUpdate(group, settingOf(change));
}

function settingOf(change: { announce: boolean } | { locked: boolean }) {
  if ("announce" in change) return change.announce ? "announcement" : "not_announcement";
  return change.locked ? "locked" : "unlocked";
}

async function invite({ sock }: OperationContext, group: Jid): Promise<string> {
  const code = await sock.groupInviteCode(group);
  if (!code) throw new Error("The network returned no invitation.");
  return code;
}

async function revokeInvite({ sock }: OperationContext, group: Jid): Promise<string> {
  const code = await sock.groupRevokeInvite(group);
  if (!code) throw new Error("The network returned no new invitation.");
  return code;
}

async function preview({ sock, identities }: OperationContext, code: string): Promise<GroupPreview> {
  return toGroupPreview(await withInvitation(sock.groupGetInviteInfo(code)), identities);
}

/** Error codes for an invitation that never existed or is no longer valid. */
const NO_INVITATION = [400, 404, 406, 410];

async function withInvitation<Value>(using: Promise<Value>): Promise<Value> {
  try {
    return await using;
  } catch (error) {
    if (!NO_INVITATION.includes(errorCodeOf(error) ?? 0)) throw error;
    throw new OperationError("NOT_FOUND", "There is no such invitation, or it was revoked.");
  }
}

async function join({ sock }: OperationContext, code: string): Promise<Jid> {
  const group = plainJid(await withInvitation(sock.groupAcceptInvite(code)));
  if (group) return group;
  throw new OperationError("CONFLICT", "An admin of the group must approve the request first.");
}

async function leave(context: OperationContext, group: Jid): Promise<null> {
  const content = [{ tag: "group", attrs: { id: group } }];
  const response = await queryGroups(context, { tag: "leave", attrs: {}, content });
  const { error } = getBinaryNodeChild(getBinaryNodeChild(response, "leave"), "group")?.attrs ?? {};
  if (error !== undefined) throw refusalOfLeaving(Number(error));
  context.groupMetadata.delete(group);
  return null;
}

function refusalOfLeaving(number: number): Error {
  if (GROUP_ACCESS_DENIED_CODES.includes(number))
    return new OperationError(NOT_IN_GROUP.code, NOT_IN_GROUP.reason);
  return toOperationError(number, "") ?? new Error(`The network did not let the instance leave (${number}).`);
}

function queryGroups({ sock }: OperationContext, content: BinaryNode): Promise<BinaryNode> {
  return sock.query({
    tag: "iq",
    attrs: { to: "@g.us", type: "set", xmlns: "w:g2" },
    content: [content],
  });
}
