import { type Selectable, sql } from "kysely";
import type { Jid } from "../../network/driver.ts";
import type { Group, GroupUpdate, ParticipantAction } from "../../network/groups.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { cleanFromNetwork } from "../../platform/text/clean-text.ts";
import type { GroupChatTable } from "../../tables.ts";

interface Member {
  jid: string;
  lid: string | null;
  phone: string | null;
  admin: "admin" | "superadmin" | null;
}

/** The instance whose groups they are. */
export interface GroupInstance {
  id: number;
  account_id: number;
}

export type GroupRow = Selectable<GroupChatTable>;

/** Stores the network's data of a group, except changes recorded after `askedAt`, which are newer. */
export async function saveGroups(
  trx: Db | Trx,
  owner: GroupInstance,
  groups: readonly Group[],
  askedAt?: Date,
): Promise<void> {
  if (groups.length === 0) return;
  const input = JSON.stringify(cleanFromNetwork(groups));
  await sql`
    insert into group_chat (account_id, instance_id, jid, subject, description, owner, announce, locked, join_approval,
      members_can_add, participants, group_created_at)
    select ${owner.account_id}, ${owner.id}, jid, subject, description, owner, announce, locked, join_approval,
      members_can_add, participants, created_at
    from jsonb_to_recordset(${input}::jsonb) as x (jid text, subject text, description text, owner text,
      announce boolean, locked boolean, join_approval boolean, members_can_add boolean, participants jsonb, created_at timestamptz)
    order by jid
    on conflict (instance_id, jid) do update set subject = excluded.subject, description = excluded.description,
      owner = excluded.owner, announce = excluded.announce, locked = excluded.locked,
      join_approval = excluded.join_approval, members_can_add = excluded.members_can_add,
      participants = excluded.participants, group_created_at = excluded.group_created_at, read_at = now(),
      is_stale = false, updated_at = now()
    where ${askedAt ?? null}::timestamptz is null or group_chat.updated_at <= ${askedAt ?? null}`.execute(
    trx,
  );
  await nameConversations(
    trx,
    owner.id,
    groups.map((group) => group.jid),
  );
}

/** A group's chat has its name. Locks rows in the order in which conversations are saved. */
async function nameConversations(trx: Db | Trx, instanceId: number, jids: string[]): Promise<void> {
  await sql`
    with named as (
      select c.id, g.subject from conversation c
      join group_chat g on g.instance_id = c.instance_id and g.jid = c.jid
      where c.instance_id = ${instanceId} and c.jid = any (${jids}) and c.title is distinct from g.subject
      order by c.instance_id, c.jid for no key update of c
    )
    update conversation c set title = named.subject from named where c.id = named.id`.execute(trx);
}

/** Applies the reported changes of a group; unreported data is fetched at the next read. */
export async function applyGroupUpdate(
  trx: Trx,
  owner: GroupInstance,
  jid: Jid,
  update: GroupUpdate,
): Promise<void> {
  const { group, left, ...change } = cleanFromNetwork(update);
  if (left) return deleteGroup(trx, owner.id, jid);
  if (group) return saveGroup(trx, owner, group);
  const row = await trx
    .selectFrom("group_chat")
    .selectAll()
    .where("instance_id", "=", owner.id)
    .where("jid", "=", jid)
    .forUpdate()
    .executeTakeFirst();
  if (!row) return markGroupListStale(trx, owner.id);
  const { participants, by: _, ...fields } = change;
  const isComplete = participants !== undefined || Object.values(fields).some((value) => value !== undefined);
  await trx
    .updateTable("group_chat")
    .set({
      ...fields,
      ...(participants && {
        participants: JSON.stringify(applyMemberChange(row.participants, participants)),
      }),
      updated_at: sql<Date>`now()`,
      is_stale: row.is_stale || !isComplete,
    })
    .where("id", "=", row.id)
    .execute();
  if (fields.subject !== undefined) await nameConversations(trx, owner.id, [jid]);
}

/**
 * Data of a whole group may be stored after a later change; a group that has just changed is fetched again.
 */
async function saveGroup(trx: Trx, owner: GroupInstance, group: Group): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable("group_chat")
    .set({ is_stale: true })
    .where("instance_id", "=", owner.id)
    .where("jid", "=", group.jid)
    .where("updated_at", ">", sql<Date>`now() - interval '10 seconds'`)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) await saveGroups(trx, owner, [group]);
}

export async function deleteGroup(db: Db | Trx, instanceId: number, jid: string): Promise<void> {
  await db.deleteFrom("group_chat").where("instance_id", "=", instanceId).where("jid", "=", jid).execute();
}

/** Marks the list as stale: a group is missing in it. */
export async function markGroupListStale(db: Db | Trx, instanceId: number): Promise<void> {
  await db.updateTable("group_list").set({ is_stale: true }).where("instance_id", "=", instanceId).execute();
}

/** The members of a group after a change; an unreported address stays as it was. */
export function applyMemberChange(
  members: readonly Member[],
  { action, who }: { action: ParticipantAction; who: readonly Member[] },
): Member[] {
  const isMeant = (member: Member) => who.some((one) => isSame(one, member));
  if (action === "remove") return members.filter((member) => !isMeant(member));
  if (action === "add") {
    const added = who.map((one) => {
      const before = members.find((member) => isSame(one, member));
      return { ...one, lid: one.lid ?? before?.lid ?? null, phone: one.phone ?? before?.phone ?? null };
    });
    return [...members.filter((member) => !isMeant(member)), ...added];
  }
  const roleOf = ({ admin }: Member) => (action === "promote" ? (admin ?? "admin") : null);
  return members.map((member) => (isMeant(member) ? { ...member, admin: roleOf(member) } : member));
}

function isSame(one: Member, other: Member): boolean {
  const addresses = [other.jid, other.lid];
  return addresses.includes(one.jid) || (one.lid !== null && addresses.includes(one.lid));
}
