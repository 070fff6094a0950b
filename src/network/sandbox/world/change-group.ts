import type { Jid } from "../../driver.ts";
import type { GroupChange, GroupPreview, ParticipantAction, ParticipantResult } from "../../groups.ts";
import type { OperationResult } from "../../session-operations.ts";
import { type NetworkAction, rejected, succeeded } from "../connection/network-action.ts";
import { type SandboxGroupMember, type StoredGroup, toGroup } from "../inbox/group-event.ts";
import { NOT_IN_GROUP } from "../requests/send-results.ts";
import { isOnNetwork, phoneOf, rejectsGroupInvites } from "../sandbox-numbers.ts";
import {
  addMember,
  findGroupByInvite,
  insertGroup,
  isRejected,
  lockGroup,
  memberOf,
  notifyMembers,
  phonesIn,
  removeMember,
  requestToJoin,
  requireMembership,
  type SandboxGroup,
} from "./group-store.ts";
import { replacePicture } from "./picture-store.ts";

const MAX_MEMBERS = 1024;

const DONE = 200;
const REFUSES = 403;
const UNKNOWN = 404;
const NOT_ALLOWED = 405;
const IS_IN_ALREADY = 409;
const FULL = 419;

type Changed = OperationResult<ParticipantResult[]>;

/** Only the creator and the phones in `admins` become admins. */
export async function createGroup(
  acting: NetworkAction,
  subject: string,
  jids: readonly Jid[],
  admins: readonly string[] = [],
): Promise<{ group: StoredGroup; results: ParticipantResult[] }> {
  const jid = await insertGroup(acting, acting.actor.phone, subject);
  const made = await lockGroup(acting, jid);
  if (!made) throw new Error(`The group ${jid} was not created.`);
  const { results, admitted } = admissions(made, jids);
  const chosen = new Set(admins);
  const who = admitted.map((phone) => ({ phone, admin: chosen.has(phone) ? ("admin" as const) : null }));
  for (const member of who) await addMember(acting, jid, member);
  const group = toStoredGroup({ ...made, members: [...made.members, ...who] });
  await notifyMembers(acting, jid, phonesIn(group), { group });
  return { group, results };
}

export async function changeParticipants(
  acting: NetworkAction,
  jid: Jid,
  action: ParticipantAction,
  jids: readonly Jid[],
): Promise<Changed> {
  const entered = await requireMembership(acting, jid);
  if (isRejected(entered)) return entered;
  const isOpen = action === "add" && entered.members_can_add;
  const group = isOpen ? entered : await requireMembership(acting, jid, { asAdmin: true });
  if (isRejected(group)) return group;
  if (action === "add") {
    const { results, admitted } = admissions(group, jids);
    await admit(acting, group, admitted);
    return succeeded(results);
  }
  const results: ParticipantResult[] = [];
  const who: SandboxGroupMember[] = [];
  for (const person of jids) {
    const member = memberOf(group, phoneOf(person));
    const status = await CHANGE[action](acting, group, member);
    results.push({ jid: person, status });
    if (status !== DONE || !member) continue;
    who.push({ ...member, admin: action === "promote" ? (member.admin ?? "admin") : null });
  }
  if (who.length > 0) await notifyMemberChange(acting, group, { action, who });
  return succeeded(results);
}

type ChangeMember = (
  acting: NetworkAction,
  group: SandboxGroup,
  member: SandboxGroupMember | undefined,
) => Promise<number>;

const CHANGE: Record<Exclude<ParticipantAction, "add">, ChangeMember> = {
  async remove(acting, { jid }, member) {
    if (!member) return UNKNOWN;
    if (member.admin === "superadmin") return NOT_ALLOWED;
    await removeMember(acting, jid, member.phone);
    return DONE;
  },
  async promote(acting, { jid }, member) {
    if (!member) return UNKNOWN;
    await setAdmin(acting, jid, member.phone, member.admin ?? "admin");
    return DONE;
  },
  async demote(acting, { jid }, member) {
    if (!member) return UNKNOWN;
    if (member.admin === "superadmin") return NOT_ALLOWED;
    await setAdmin(acting, jid, member.phone, null);
    return DONE;
  },
};

async function setAdmin(
  { client, account_id }: NetworkAction,
  jid: Jid,
  phone: string,
  admin: SandboxGroupMember["admin"],
): Promise<void> {
  await client.query(
    "update sandbox.group_member set admin = $4 where group_jid = $1 and account_id = $2 and phone = $3",
    [jid, account_id, phone, admin],
  );
}

/** The status of each person who is to be added, and the phones that can be added. */
function admissions(
  group: SandboxGroup,
  jids: readonly Jid[],
): { results: ParticipantResult[]; admitted: string[] } {
  const members = [...group.members];
  const results = jids.map((jid) => {
    const phone = phoneOf(jid);
    const status = admission({ ...group, members }, phone);
    if (status === DONE && phone !== null) members.push({ phone, admin: null });
    return { jid, status };
  });
  return { results, admitted: phonesIn({ ...group, members: members.slice(group.members.length) }) };
}

/** Existing members receive the change; new members also receive the whole group. */
export async function admit(acting: NetworkAction, group: SandboxGroup, phones: string[]): Promise<void> {
  if (phones.length === 0) return;
  const who = phones.map((phone) => ({ phone, admin: null }));
  for (const member of who) await addMember(acting, group.jid, member);
  const participants = { action: "add" as const, who };
  await notifyMembers(acting, group.jid, phonesIn(group), { participants });
  const now = toStoredGroup({ ...group, members: [...group.members, ...who] });
  await notifyMembers(acting, group.jid, phones, { participants, group: now });
}

function admission(group: SandboxGroup, phone: string | null): number {
  if (phone === null || !isOnNetwork(phone)) return UNKNOWN;
  if (memberOf(group, phone)) return IS_IN_ALREADY;
  if (rejectsGroupInvites(phone)) return REFUSES;
  return group.members.length < MAX_MEMBERS ? DONE : FULL;
}

async function notifyMemberChange(
  acting: NetworkAction,
  group: SandboxGroup,
  participants: { action: ParticipantAction; who: SandboxGroupMember[] },
): Promise<void> {
  const removed = participants.action === "remove" ? participants.who.map(({ phone }) => phone) : [];
  const gone = new Set(removed);
  const there = phonesIn(group).filter((phone) => !gone.has(phone));
  await notifyMembers(acting, group.jid, there, { participants });
  await notifyMembers(acting, group.jid, removed, { left: true });
}

/** Removes the fields that only the network knows. */
export function toStoredGroup({ invite: _, picture: __, ...group }: SandboxGroup): StoredGroup {
  return group;
}

/** What members may change unless the group is locked. */
const MEMBER_CHANGES = ["subject", "description", "image"];
const MAX_SUBJECT = 100;
const MAX_DESCRIPTION = 2048;

export async function changeGroup(
  acting: NetworkAction,
  jid: Jid,
  change: GroupChange,
): Promise<OperationResult<null>> {
  const entered = await requireMembership(acting, jid);
  if (isRejected(entered)) return entered;
  const needsAdmin = entered.locked || !MEMBER_CHANGES.some((name) => name in change);
  const group = needsAdmin ? await requireMembership(acting, jid, { asAdmin: true }) : entered;
  if (isRejected(group)) return group;
  const { client, account_id } = acting;
  const wrong = validateGroupChange(change);
  if (wrong) return rejected("VALIDATION_ERROR", wrong);
  const update = "description" in change ? { description: change.description || null } : change;
  if ("image" in update) {
    const picture = await replacePicture(client, group.picture, update.image);
    await client.query("update sandbox.group_chat set picture = $3 where jid = $1 and account_id = $2", [
      jid,
      account_id,
      picture,
    ]);
    await notifyMembers(acting, jid, phonesIn(group), {});
    return succeeded(null);
  }
  await client.query(
    `update sandbox.group_chat g set subject = n.subject, description = n.description, announce = n.announce,
       locked = n.locked, join_approval = n.join_approval, members_can_add = n.members_can_add
     from jsonb_populate_record(null::sandbox.group_chat, $3) n where g.jid = $1 and g.account_id = $2`,
    [jid, account_id, JSON.stringify({ ...toStoredGroup(group), ...update })],
  );
  await notifyMembers(acting, jid, phonesIn(group), update);
  return succeeded(null);
}

/** The reason why the network rejects the change. */
export function validateGroupChange(change: GroupChange): string | undefined {
  if ("subject" in change && (change.subject === "" || change.subject.length > MAX_SUBJECT)) {
    return `The subject must have 1 to ${MAX_SUBJECT} characters.`;
  }
  if ("description" in change && change.description.length > MAX_DESCRIPTION) {
    return `The description may have ${MAX_DESCRIPTION} characters.`;
  }
  return undefined;
}

export async function previewGroup(
  acting: NetworkAction,
  invite: string,
): Promise<OperationResult<GroupPreview>> {
  const found = await findGroupByInvite(acting, invite);
  const group = found === undefined ? undefined : await lockGroup(acting, found);
  if (!group) return NO_INVITATION;
  const { jid, subject, description, owner, join_approval, created_at, participants } = toGroup(
    toStoredGroup(group),
  );
  const size = participants.length;
  return succeeded({ jid, subject, description, owner, join_approval, created_at, size });
}

const NO_INVITATION = rejected("NOT_FOUND", "The invitation is unknown or was revoked.");

export async function joinGroup(acting: NetworkAction, invite: string): Promise<OperationResult<Jid>> {
  const found = await findGroupByInvite(acting, invite);
  const group = found === undefined ? undefined : await lockGroup(acting, found);
  return group ? enterGroup(acting, group) : NO_INVITATION;
}

/** Uses the invitation of a group: the actor becomes a member, or waits for an admin's approval. */
export async function enterGroup(acting: NetworkAction, group: SandboxGroup): Promise<OperationResult<Jid>> {
  const { actor } = acting;
  if (memberOf(group, actor.phone)) return succeeded(group.jid);
  if (group.members.length >= MAX_MEMBERS) return rejected("CONFLICT", "The group is full.");
  if (group.join_approval) {
    await requestToJoin(acting, group);
    return rejected("CONFLICT", "An admin of the group must approve the request first.");
  }
  await admit(acting, group, [actor.phone]);
  return succeeded(group.jid);
}

export async function leaveGroup(acting: NetworkAction, jid: Jid): Promise<OperationResult<null>> {
  const group = await requireMembership(acting, jid);
  if (isRejected(group)) return rejected("NOT_FOUND", NOT_IN_GROUP);
  const { phone } = acting.actor;
  const promoted = await removeMember(acting, jid, phone);
  await notifyMemberChange(acting, group, { action: "remove", who: [{ phone, admin: null }] });
  const left = { ...group, members: group.members.filter((member) => member.phone !== phone) };
  if (promoted.length > 0) await notifyMemberChange(acting, left, { action: "promote", who: promoted });
  return succeeded(null);
}
