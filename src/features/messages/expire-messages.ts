import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db.ts";
import { doomFiles } from "../media/media.ts";

const ROWS_AT_ONCE = 500;
/** Of one run; the next goes on where this one has ended. */
const MOST_BATCHES = 400;
const DAY_MS = 86_400_000;

interface Expiry {
  instance_id: number;
  before: Date;
}

/**
 * Deletes messages whose time is over: as the account says, else `defaultMs` (0: for ever), and at the latest when the
 * plan says. Each batch is a commit of its own, the oldest first, so a run that was interrupted is gone on with.
 */
export async function expireMessages(db: Db, defaultMs: number): Promise<void> {
  let batches = 0;
  for (const expiry of await findExpiries(db, defaultMs)) {
    for (let deleted = ROWS_AT_ONCE; deleted >= ROWS_AT_ONCE; batches += 1) {
      if (batches >= MOST_BATCHES) return;
      deleted = await db.transaction().execute((trx) => deleteOldest(trx, expiry));
    }
  }
}

/** The instances with something to delete; those that were removed keep messages too. */
async function findExpiries(db: Db, defaultMs: number): Promise<Expiry[]> {
  const { rows } = await sql<Expiry>`
    select i.id as instance_id, kept.before
    from (
      select a.id, least(coalesce((a.settings ->> 'message_retention_days')::float8, ${defaultMs || null}::float8 / ${DAY_MS}),
        (p.features ->> 'max_message_retention_days')::float8) as days
      from account a join plan p on p.id = a.plan_id
    ) a
    join instance i on i.account_id = a.id
    cross join lateral (select now() - a.days * interval '1 day' as before) kept
    where a.days is not null
      and exists (select from message m where m.instance_id = i.id and m.sent_at < kept.before)
    order by i.id`.execute(db);
  return rows;
}

/** A send without an outcome stays until it has one. */
async function deleteOldest(trx: Trx, { instance_id, before }: Expiry): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select id from message
    where instance_id = ${instance_id} and sent_at < ${before} and status <> 'pending'
    order by sent_at, id limit ${ROWS_AT_ONCE} for update skip locked`.execute(trx);
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return 0;
  await deleteFiles(trx, ids);
  await sql`
    delete from message_search s using message m
    where m.id = any(${ids}::bigint[]) and s.instance_id = m.instance_id and s.id = m.id
      and s.at = case when m.mode is null then m.sent_at else m.created_at end`.execute(trx);
  await trx.deleteFrom("message").where("id", "in", ids).execute();
  return ids.length;
}

async function deleteFiles(trx: Trx, messages: readonly number[]): Promise<void> {
  const { rows: files } = await sql<{ id: string; blob: number | null; upload: string | null }>`
    select id, blob, upload from media where message = any(${messages}::bigint[]) order by id for update`.execute(
    trx,
  );
  if (files.length === 0) return;
  const ids = files.map(({ id }) => id);
  await sql`delete from media where id = any(${ids}::text[])`.execute(trx);
  const uploads = files.flatMap(({ upload }) => upload ?? []);
  if (uploads.length > 0) await trx.deleteFrom("outgoing_media").where("id", "in", uploads).execute();
  await doomFiles(
    trx,
    files.flatMap(({ blob }) => blob ?? []),
  );
}
