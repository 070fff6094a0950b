import { randomBytes, randomInt } from "node:crypto";
import type { Jid } from "../../driver.ts";
import { groupJid } from "../../jid.ts";
import type { OperationResult } from "../../session-operations.ts";
import { type NetworkAction, rejected } from "../connection/network-action.ts";
import type { GroupEvent, SandboxGroupMember, StoredGroup } from "../inbox/group-event.ts";
import type { SandboxNetwork } from "../sandbox-network.ts";

/** A group with the fields that only the network knows. */
export interface SandboxGroup extends StoredGroup {
  invite: string;
  picture: string | null;
}

const COLUMNS = `
  g.jid, g.subject, g.description, g.owner, g.announce, g.locked, g.join_approval, g.members_can_add,
  to_json(g.created_at) #>> '{}' as created_at,
  g.invite, g.picture,
  (select coalesce(json_agg(json_build_object('phone', m.phone, 'admin', m.admin) order by m.position), '[]')
   from sandbox.group_member m where m.group_jid = g.jid and m.account_id = g.account_id) as members`;

/** Locks the group until the commit, so that its changes run sequentially. */
export async function lockGroup(
  { client, account_id }: NetworkAction,
  jid: string,
): Promise<SandboxGroup | undefined> {
  const key = [jid, account_id];
  await client.query("select from sandbox.group_chat where jid = $1 and account_id = $2 for update", key);
  const { rows } = await client.query<SandboxGroup>(
    `select ${COLUMNS} from sandbox.group_chat g where g.jid = $1 and g.account_id = $2`,
    key,
  );
  return rows[0];
}

export async function findGroupsOf(
  { client, account_id }: SandboxNetwork,
  phone: string,
): Promise<SandboxGroup[]> {
  const { rows } = await client.query<SandboxGroup>(
    `select ${COLUMNS} from sandbox.group_chat g
     where g.account_id = $2
       and g.jid in (select group_jid from sandbox.group_member where phone = $1 and account_id = $2)
     order by g.created_at, g.jid`,
    [phone, account_id],
  );
  return rows;
}

/** Stores that the actor waits for an approval, and notifies the admins; a repeated request changes nothing. */
export async function requestToJoin(acting: NetworkAction, group: SandboxGroup): Promise<void> {
  const { client, account_id, actor } = acting;
  const { rowCount } = await client.query(
    "insert into sandbox.group_request (account_id, group_jid, phone) values ($1, $2, $3) on conflict do nothing",
    [account_id, group.jid, actor.phone],
  );
  if (rowCount === 0) return;
  const who = { phone: actor.phone, push_name: actor.push_name };
  const admins = group.members.filter((member) => member.admin !== null).map((member) => member.phone);
  await acting.deliver(admins, group.jid, { kind: "join_request", body: { who, method: INVITE_LINK } });
}

/** How people of this network ask to join. */
export const INVITE_LINK = "invite_link";

/** A new code; the invitation so far is invalid. */
export async function renewInvite({ client, account_id }: NetworkAction, jid: string): Promise<string> {
  const invite = newInvite();
  await client.query("update sandbox.group_chat set invite = $3 where jid = $1 and account_id = $2", [
    jid,
    account_id,
    invite,
  ]);
  return invite;
}

/** The group that an invitation belongs to. */
export async function findGroupByInvite(
  { client, account_id }: SandboxNetwork,
  invite: string,
): Promise<string | undefined> {
  const { rows } = await client.query<{ jid: string }>(
    "select jid from sandbox.group_chat where invite = $1 and account_id = $2",
    [invite, account_id],
  );
  return rows[0]?.jid;
}

/** Returns the group if the instance is a member or, with `asAdmin`, an admin of it. */
export async function requireMembership(
  acting: NetworkAction,
  jid: string,
  { asAdmin = false } = {},
): Promise<SandboxGroup | OperationResult<never>> {
  const group = await lockGroup(acting, jid);
  if (!group) return rejected("NOT_FOUND", "There is no such group.");
  const member = memberOf(group, acting.actor.phone);
  if (!member) return rejected("FORBIDDEN", "The instance is not in this group.");
  if (asAdmin && !member.admin) return rejected("FORBIDDEN", "Only an admin of the group may do that.");
  return group;
}

export function isRejected(
  entered: SandboxGroup | OperationResult<never>,
): entered is OperationResult<never> {
  return "outcome" in entered;
}

export function memberOf(group: StoredGroup, phone: string | null): SandboxGroupMember | undefined {
  return group.members.find((member) => member.phone === phone);
}

/** Creates a group with its creator as a member. */
export async function insertGroup(network: SandboxNetwork, owner: string, subject: string): Promise<Jid> {
  const jid = newGroupJid();
  await network.client.query(
    "insert into sandbox.group_chat (account_id, jid, subject, owner, invite) values ($1, $2, $3, $4, $5)",
    [network.account_id, jid, subject, owner, newInvite()],
  );
  await addMember(network, jid, { phone: owner, admin: "superadmin" });
  return jid;
}

/** Adds all these phones to the group. Creates an unknown group, with the first phone as its admin. */
export async function ensureMembers(network: SandboxNetwork, jid: Jid, phones: string[]): Promise<void> {
  const { rowCount } = await network.client.query(
    `insert into sandbox.group_chat (account_id, jid, subject, owner, invite)
     values ($1, $2, 'Group ' || right(split_part($2, '@', 1), 4), $3, $4) on conflict do nothing`,
    [network.account_id, jid, phones[0], newInvite()],
  );
  for (const [nth, phone] of phones.entries()) {
    await addMember(network, jid, { phone, admin: rowCount === 1 && nth === 0 ? "superadmin" : null });
  }
}

export async function addMember(
  { client, account_id }: SandboxNetwork,
  jid: string,
  { phone, admin }: SandboxGroupMember,
): Promise<void> {
  await client.query(
    `with answered as (
       delete from sandbox.group_request where account_id = $1 and group_jid = $2 and phone = $3
     )
     insert into sandbox.group_member (account_id, group_jid, phone, admin) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [account_id, jid, phone, admin],
  );
}

/**
 * In a group left without an admin, the longest-standing member becomes admin and is returned. Deletes an
 * empty group.
 */
export async function removeMember(
  { client, account_id }: NetworkAction,
  jid: string,
  phone: string,
): Promise<SandboxGroupMember[]> {
  await client.query(
    "delete from sandbox.group_member where group_jid = $1 and account_id = $2 and phone = $3",
    [jid, account_id, phone],
  );
  const { rows } = await client.query<SandboxGroupMember>(
    `update sandbox.group_member set admin = 'admin'
     where group_jid = $1 and account_id = $2
       and position = (select min(position) from sandbox.group_member where group_jid = $1 and account_id = $2)
       and not exists (
         select from sandbox.group_member where group_jid = $1 and account_id = $2 and admin is not null)
     returning phone, admin`,
    [jid, account_id],
  );
  await client.query(
    `with emptied as (
       delete from sandbox.group_chat
       where jid = $1 and account_id = $2
         and not exists (select from sandbox.group_member where group_jid = $1 and account_id = $2)
       returning account_id, jid
     )
     delete from sandbox.group_request r using emptied where r.account_id = emptied.account_id and r.group_jid = emptied.jid`,
    [jid, account_id],
  );
  return rows;
}

/** Notifies these phones of a change. */
export function notifyMembers(
  acting: NetworkAction,
  jid: Jid,
  phones: string[],
  update: Omit<GroupEvent, "by">,
): Promise<void> {
  const { phone, push_name } = acting.actor;
  return acting.deliver(phones, jid, { kind: "group", body: { ...update, by: { phone, push_name } } });
}

export function phonesIn(group: StoredGroup): string[] {
  return group.members.map(({ phone }) => phone);
}

// As on the real network; random, so that it reveals nothing about other groups.
function newGroupJid(): Jid {
  return groupJid(`120363${String(randomInt(10 ** 12)).padStart(12, "0")}`);
}

function newInvite(): string {
  return randomBytes(16).toString("base64url");
}
