import { sql } from "kysely";
import type { Trx } from "../../platform/db/database.ts";
import { markFilesForDeletion } from "../media/media.ts";
import { type RetentionCutoff, type RetentionRule, ROWS_AT_ONCE } from "./retention.ts";

/** Messages with their files and indexed words, also of removed instances. */
export const MESSAGE_RETENTION: RetentionRule = { kind: "message", deleteOldest };

/** A send without an outcome stays until it has one. */
async function deleteOldest(trx: Trx, { account_id, before }: RetentionCutoff): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select old.id from instance i cross join lateral (
      select id from message where instance_id = i.id and sent_at < ${before} and status <> 'pending'
      order by sent_at, id limit ${ROWS_AT_ONCE} for update skip locked
    ) old
    where i.account_id = ${account_id} limit ${ROWS_AT_ONCE}`.execute(trx);
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
  await markFilesForDeletion(
    trx,
    files.flatMap(({ blob }) => blob ?? []),
  );
}
