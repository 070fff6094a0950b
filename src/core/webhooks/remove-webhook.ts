import { sql } from "kysely";
import { removeLane } from "../../engine/lane-store.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { WebhookRow } from "./webhook-record.ts";

type Removed = Pick<WebhookRow, "id" | "lane">;

const JOBS_AT_ONCE = 1_000;

/** Hides a webhook: new events are no longer queued for it, and queued deliveries are discarded. */
export async function removeWebhook(trx: Trx, { id }: Removed): Promise<void> {
  await trx
    .updateTable("webhook")
    .set({ is_active: false, is_default: false, removed_at: sql<Date>`now()` })
    .where("id", "=", id)
    .execute();
}

/** Discards a batch of a removed webhook's deliveries and marks them; returns their number. */
export async function discardQueued(db: Db, { lane }: Removed): Promise<number> {
  // The lane's lock excludes attempts whose results are just being written.
  const { rows } = await sql`
    with locked as materialized (select id from lane where id = ${lane} for update),
    deleted as (
      delete from job where id in (
        select job.id from job where lane = (select id from locked) order by prio, pos limit ${JOBS_AT_ONCE})
      returning (ref ->> 'delivery')::bigint as id, (ref ->> 'at')::timestamptz as at
    ), discarded as (
      update delivery d set status = 'discarded', error = 'The webhook was removed.',
        error_class = 'webhook_removed', next_retry_at = null
      from deleted where d.id = deleted.id and d.created_at = deleted.at and d.status in ('pending', 'retrying', 'parked')
    )
    select id from deleted`.execute(db);
  return rows.length;
}

/** Discards the queued deliveries of removed webhooks, and deletes webhooks that can get no new ones. */
export async function finishWebhookRemovals(db: Db): Promise<void> {
  const removed = await db
    .selectFrom("webhook")
    .select(["id", "lane"])
    .where("removed_at", "is not", null)
    .orderBy("removed_at")
    .limit(JOBS_AT_ONCE)
    .execute();
  for (const webhook of removed) {
    for (let found = JOBS_AT_ONCE; found === JOBS_AT_ONCE; ) found = await discardQueued(db, webhook);
    await db.transaction().execute((trx) => dropWhenQuiet(trx, webhook));
  }
}

/** Waits an hour, since a transaction that read the webhook before it was hidden may still add a job. */
async function dropWhenQuiet(trx: Trx, { id }: Removed): Promise<void> {
  const dropped = await trx
    .deleteFrom("webhook")
    .where("id", "=", id)
    .where("removed_at", "<", sql<Date>`now() - interval '1 hour'`)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("job").whereRef("job.lane", "=", "webhook.lane").select("job.id"))),
    )
    .returning("lane")
    .executeTakeFirst();
  if (dropped?.lane) await removeLane(trx, dropped.lane);
}
