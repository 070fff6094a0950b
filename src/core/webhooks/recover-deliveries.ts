import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { DELIVERY_JOB_GROUP_SQL, DELIVERY_JOB_REF_SQL } from "../events/events.ts";
import { getWebhook, lockWebhook } from "./find-webhook.ts";

const DELIVERIES_AT_ONCE = 2_000;

/** Queues the deliveries that failed since a time once more, in their order and with new attempts. */
export async function recoverDeliveries(
  db: Db,
  {
    id,
    webhookId,
    since,
    atOnce = DELIVERIES_AT_ONCE,
  }: { id: number; webhookId: number; since: Date; atOnce?: number },
): Promise<{ queued: number; lane: number | null }> {
  let queued = 0;
  for (let after: FailedDeliveryPage = { at: since, id: 0 }; ; ) {
    const { lane, failed, found } = await db.transaction().execute(async (trx) => {
      const webhook = await lockWebhook(trx, id, webhookId);
      if (!webhook.is_active)
        throw new GatewayError("CONFLICT", "The webhook is not active. Activate it first.");
      const some = await lockFailed(trx, webhookId, after, atOnce);
      return { lane: webhook.lane, failed: some, found: await queueAgain(trx, some) };
    });
    queued += found;
    const last = failed.at(-1);
    if (!last || failed.length < atOnce) return { queued, lane };
    after = last;
  }
}

/** The number of deliveries that `recoverDeliveries` would queue. */
export async function countFailed(
  db: Db,
  { id, webhookId, since }: { id: number; webhookId: number; since: Date },
): Promise<number> {
  await getWebhook(db, id, webhookId);
  const { rows } = await sql<{ failed: number }>`
    select count(*)::int as failed from delivery d
    where webhook_id = ${webhookId} and status in ('failed', 'discarded') and created_at >= ${since}
      and exists (select from event e where e.event_id = d.event_id and e.created_at = d.created_at)`.execute(
    db,
  );
  return rows[0]?.failed ?? 0;
}

interface FailedDeliveryPage {
  at: Date;
  id: number;
}

type Failed = FailedDeliveryPage & { event_id: string };

async function lockFailed(
  trx: Trx,
  webhookId: number,
  after: FailedDeliveryPage,
  atOnce: number,
): Promise<Failed[]> {
  const { rows } = await sql<Failed>`
    select id, event_id, created_at as at from delivery
    where webhook_id = ${webhookId} and status <> 'delivered' and status in ('failed', 'discarded')
      and created_at >= ${after.at} and (created_at, id) > (${after.at}, ${after.id})
    order by created_at, id limit ${atOnce} for no key update`.execute(trx);
  return rows;
}

/** Returns the number of queued deliveries; skips those whose event is deleted. */
async function queueAgain(trx: Trx, failed: Failed[]): Promise<number> {
  const [first, last] = [failed[0], failed.at(-1)];
  if (!first || !last) return 0;
  const { rows } = await sql`
    with requeued as (
      update delivery d set status = 'pending', attempts = 0, error = null, error_class = null
      from unnest(
        ${failed.map(({ id }) => id)}::bigint[], ${failed.map(({ event_id }) => event_id)}::text[],
        ${failed.map(({ at }) => at)}::timestamptz[]
      ) as f (id, event_id, at)
      join event e on e.event_id = f.event_id and e.created_at = f.at
        and e.created_at between ${first.at} and ${last.at}
      where d.id = f.id and d.created_at = f.at and d.created_at between ${first.at} and ${last.at}
      returning d.id as delivery_id, d.webhook_id, d.created_at as at, e.event_id, e.sequence, e.chat
    )
    insert into job (lane, prio, pos, grp, ref)
    select lane, 1, sequence, ${DELIVERY_JOB_GROUP_SQL}, ${DELIVERY_JOB_REF_SQL}
    from (select r.*, w.ordering, w.lane from requeued r join webhook w on w.id = r.webhook_id) job_source
    order by sequence
    returning id`.execute(trx);
  return rows.length;
}
