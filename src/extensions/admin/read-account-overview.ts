import { sql } from "kysely";
import { isInScope } from "../../core/accounts/accounts.ts";
import type { Db } from "../../platform/db/database.ts";
import type { Reach } from "../../platform/reach.ts";
import type { InstanceStatus } from "../../tables.ts";
import {
  alertsOfWebhooks,
  findDisconnectedInstances,
  findFailingWebhooks,
  findNearlyFullStorage,
  findRenewedKeys,
} from "./alerts.ts";

/** Of messages, and of attempts; a busier account gets figures that are too low, and is told so. */
const MOST_COUNTED = 100_000;
const FIRST_HOUR = sql<Date>`date_trunc('hour', now(), 'UTC') - interval '23 hours'`;

interface AccountOverviewOptions {
  /** Whether the caller may see webhooks and keys. */
  isAdministrator: boolean;
}

/** What an account needs to know first: problems with advice, its instances, and the last 24 hours. */
export async function readAccountOverview(db: Db, reach: Reach, { isAdministrator }: AccountOverviewOptions) {
  const alerts = [
    ...(isAdministrator ? alertsOfWebhooks(await findFailingWebhooks(db, reach)) : []),
    ...(isAdministrator ? await findRenewedKeys(db, reach.account_id) : []),
    ...(await findDisconnectedInstances(db, reach)),
    ...(await findNearlyFullStorage(db, reach)),
  ].sort((a, b) => Number(b.severity === "critical") - Number(a.severity === "critical"));
  return {
    alerts,
    instances_by_status: await countInstances(db, reach),
    ...(await readHours(db, reach)),
  };
}

async function countInstances(db: Db, reach: Reach) {
  const { rows } = await sql<{ status: InstanceStatus; count: number }>`
    select status, count(*) as count from instance
    where ${isInScope(reach, sql`account_id`, sql`id`)} and removed_at is null group by status`.execute(db);
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

interface MessageHour {
  hour: Date;
  sent: number;
  failed: number;
  received: number;
}

interface DeliveryHour {
  hour: Date;
  delivered: number;
  failed_attempts: number;
}

/** Every hour of the last 24, the running one last. */
async function readHours(db: Db, reach: Reach) {
  const messages = await readMessageHours(db, reach);
  const deliveries = await readDeliveryHours(db, reach);
  const { rows } = await sql<{ hour: Date }>`
    select generate_series(${FIRST_HOUR}, now(), interval '1 hour') as hour`.execute(db);
  const hours = rows.map(({ hour }) => {
    const isThis = (row: { hour: Date }) => row.hour.getTime() === hour.getTime();
    const { sent = 0, failed = 0, received = 0 } = messages.find(isThis) ?? {};
    const { delivered = 0, failed_attempts = 0 } = deliveries.find(isThis) ?? {};
    return { hour, sent, failed, received, delivered, failed_attempts };
  });
  const counted = [
    sum(messages.map(({ sent, failed, received }) => sent + failed + received)),
    sum(deliveries.map(({ delivered, failed_attempts }) => delivered + failed_attempts)),
  ];
  return { hours, is_complete: counted.every((count) => count < MOST_COUNTED) };
}

async function readMessageHours(db: Db, reach: Reach): Promise<MessageHour[]> {
  const { rows } = await sql<MessageHour>`
    select date_trunc('hour', sent_at, 'UTC') as hour,
      count(*) filter (where direction = 'outbound' and status <> 'failed') as sent,
      count(*) filter (where direction = 'outbound' and status = 'failed') as failed,
      count(*) filter (where direction = 'inbound') as received
    from (
      select m.sent_at, m.direction, m.status from instance i
      join message m on m.instance_id = i.id and m.sent_at >= ${FIRST_HOUR}
      where ${isInScope(reach, sql`i.account_id`, sql`i.id`)} and i.removed_at is null
      limit ${MOST_COUNTED}
    ) m
    group by 1`.execute(db);
  return rows;
}

async function readDeliveryHours(db: Db, reach: Reach): Promise<DeliveryHour[]> {
  const { rows } = await sql<DeliveryHour>`
    select date_trunc('hour', created_at, 'UTC') as hour, count(*) filter (where success) as delivered,
      count(*) filter (where not success) as failed_attempts
    from (
      select a.created_at, a.success from instance i
      join attempt a on a.instance_id = i.id and a.created_at >= ${FIRST_HOUR}
      where ${isInScope(reach, sql`i.account_id`, sql`i.id`)} and i.removed_at is null
      limit ${MOST_COUNTED}
    ) a
    group by 1`.execute(db);
  return rows;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
