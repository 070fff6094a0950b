import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";

/** A person by phone, and the LID that belongs to the same person. */
export interface PersonAddresses {
  account_id: number;
  instance_id: number;
  /** By phone. */
  jid: string;
  lid: string;
  phone: string;
}

/**
 * Merges two addresses into one person: one contact, one conversation, all messages. The conversation by LID
 * stays as a redirect row. Returns its id, since its messages must still be moved; undefined if there was
 * none.
 */
export async function mergeAddresses(db: Db, addresses: PersonAddresses): Promise<number | undefined> {
  return db.transaction().execute(async (trx) => {
    const contact = await joinContacts(trx, addresses);
    return contact === undefined ? undefined : joinConversations(trx, addresses, contact);
  });
}

/**
 * Locks rows in the order of all other writers. The LID always has an owner, so a concurrent change cannot
 * create a second person for it. Returns the merged contact's id, undefined if the LID had no contact
 * of its own.
 */
async function joinContacts(
  trx: Trx,
  { instance_id, jid, lid, phone }: PersonAddresses,
): Promise<number | undefined> {
  const rows = await trx
    .selectFrom("contact")
    .select(["id", "jid", "lid"])
    .where("instance_id", "=", instance_id)
    .where(({ eb, or }) => or([eb("jid", "in", [jid, lid]), eb("lid", "=", lid)]))
    .orderBy("jid")
    .forUpdate()
    .execute();
  const own = rows.find((row) => row.jid === jid);
  const holder = rows.find((row) => row.lid === lid && row.jid !== jid);
  if (!holder) return undefined;
  if (holder.jid !== lid) {
    // The person has a new number: the LID stays with the person, the old chat stays as it is.
    await trx.updateTable("contact").set({ lid: null }).where("id", "=", holder.id).execute();
    if (own) await trx.updateTable("contact").set({ lid }).where("id", "=", own.id).execute();
    return undefined;
  }
  if (!own) {
    await trx.updateTable("contact").set({ jid, phone }).where("id", "=", holder.id).execute();
    return holder.id;
  }
  await absorbContact(trx, own.id, holder.id);
  return own.id;
}

async function absorbContact(trx: Trx, id: number, other: number): Promise<void> {
  await sql`
    with deleted as (delete from contact where id = ${other} returning *)
    update contact c set
      lid = g.lid, name = coalesce(c.name, g.name), push_name = coalesce(c.push_name, g.push_name),
      verified_name = coalesce(c.verified_name, g.verified_name), about = coalesce(c.about, g.about),
      picture_url = coalesce(c.picture_url, g.picture_url), is_business = coalesce(c.is_business, g.is_business),
      is_blocked = c.is_blocked or g.is_blocked, updated_at = now()
    from deleted g where c.id = ${id}`.execute(trx);
}

/** The id of the merged conversation; undefined if the LID had none. */
async function joinConversations(
  trx: Trx,
  { account_id, instance_id, jid, lid, phone }: PersonAddresses,
  contactId: number,
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    with former as (
      select * from conversation where instance_id = ${instance_id} and jid = ${lid} and merged_into is null for update
    ), merged as (
      insert into conversation as c (account_id, instance_id, jid, phone, title, type, contact_id, last_message_at,
        archived, pinned, muted_until, marked_unread, created_at)
      select ${account_id}, ${instance_id}, ${jid}, ${phone}, title, 'contact', ${contactId}, last_message_at,
        archived, pinned, muted_until, marked_unread, created_at
      from former
      on conflict (instance_id, jid) do update set
        phone = excluded.phone, title = coalesce(c.title, excluded.title), contact_id = excluded.contact_id,
        last_message_at = greatest(c.last_message_at, excluded.last_message_at),
        marked_unread = c.marked_unread or excluded.marked_unread,
        created_at = least(c.created_at, excluded.created_at)
      returning id
    )
    update conversation c set merged_into = k.id, merged_at = now(), contact_id = ${contactId}
    from former f, merged k where c.id = f.id
    returning c.id`.execute(trx);
  return rows[0]?.id;
}
