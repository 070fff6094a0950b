import { sql } from "kysely";
import { lockAccount } from "../../core/accounts/accounts.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { copyConsentToPhone, type SuppressionList } from "../consent/consent.ts";

const AT_ONCE = 500;

/**
 * Adds the phone to leads that had only a LID, once a contact has learnt it. If another lead has that phone
 * already, the two are merged.
 */
export async function addPhonesToLeads(db: Db, suppression: SuppressionList): Promise<void> {
  const { rows } = await sql<FoundPhone>`
    select distinct on (l.id) l.id, l.account_id, c.phone
    from lead l
    join instance i on i.account_id = l.account_id and i.removed_at is null
    join contact c on c.instance_id = i.id and c.lid = l.lid and c.phone is not null
    where l.phone is null and l.lid is not null
    order by l.id, c.updated_at desc limit ${AT_ONCE}`.execute(db);
  for (const found of rows) await db.transaction().execute((trx) => addPhone(trx, suppression, found));
}

interface FoundPhone {
  id: number;
  account_id: number;
  phone: string;
}

interface Found {
  id: number;
  opted_out_at: Date | null;
  /** The lead with the LID. */
  is_same: boolean;
}

async function addPhone(
  trx: Trx,
  suppression: SuppressionList,
  { id, account_id, phone }: FoundPhone,
): Promise<void> {
  // As an import does, which may make a lead of the phone and change this one.
  await lockAccount(trx, account_id);
  const { rows } = await sql<Found>`
    select l.id, l.opted_out_at, l.id = ${id} as is_same from lead l, lead u
    where u.id = ${id} and u.phone is null and l.account_id = u.account_id
      and (l.id = u.id or l.phone is not null and canonical_number(l.phone) = canonical_number(${phone}))
    order by l.id for update of l`.execute(trx);
  const lidOnly = rows.find((row) => row.is_same);
  const other = rows.find((row) => !row.is_same);
  if (!lidOnly) return;
  await copyConsentToPhone(trx, id, phone);
  if (other) await absorb(trx, other.id, id);
  else await trx.updateTable("lead").set({ phone, updated_at: sql`now()` }).where("id", "=", id).execute();
  // After the leads, as inbound messages do.
  if (lidOnly.opted_out_at) await suppression.add(trx, [{ account_id, phone }], "keyword");
}

/** Where both leads have a value, that of the lead with the phone counts. */
async function absorb(trx: Trx, id: number, other: number): Promise<void> {
  await trx.updateTable("lead_note").set({ lead_id: id }).where("lead_id", "=", other).execute();
  await sql`
    with deleted as (delete from lead where id = ${other} returning *)
    update lead l set
      lid = g.lid, name = coalesce(nullif(l.name, ''), g.name), email = coalesce(l.email, g.email),
      kanban_status = coalesce(l.kanban_status, g.kanban_status),
      tags = array(select distinct tag from unnest(l.tags || g.tags) as t (tag) order by tag),
      custom_fields = g.custom_fields || l.custom_fields,
      opted_out_at = coalesce(l.opted_out_at, g.opted_out_at), updated_at = now()
    from deleted g where l.id = ${id}`.execute(trx);
}
