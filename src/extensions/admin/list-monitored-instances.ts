import { type Selectable, sql } from "kysely";
import { type AccountScope, isInScope } from "../../core/accounts/accounts.ts";
import { LIVE_STATUSES } from "../../core/instances/instances.ts";
import type { Db } from "../../platform/db/database.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import type { InstanceTable } from "../../tables.ts";
import { recommendAction } from "./recommend-action.ts";

export interface ListMonitoredInstancesOptions {
  limit: number;
  cursor?: string;
  status?: string;
  account_id?: number;
}

type Row = Pick<
  Selectable<InstanceTable>,
  | "id"
  | "account_id"
  | "name"
  | "network"
  | "status"
  | "wanted"
  | "phone"
  | "connected_at"
  | "last_seen_at"
  | "last_disconnect_reason"
> & {
  account_name: string;
  messages_24h: number;
  failures_24h: number;
  waiting_sends: number;
  seconds_since_last_inbound: number | null;
  attempts: number;
  memory_mb: number | null;
};

const MOST_COUNTED = 10_000;

/** A page of instances, newest first, with their recent activity; only instances on the page are counted. */
export async function listMonitoredInstances(
  db: Db,
  scope: AccountScope,
  options: ListMonitoredInstancesOptions,
) {
  const { limit, cursor, status, account_id } = options;
  const before = readCursor(cursor);
  const { rows } = await sql<Row>`
    with shown as (
      select * from instance
      where removed_at is null and ${isInScope(scope, sql`account_id`)}
        and ${status === undefined ? sql`true` : sql`status = ${status}`}
        and ${account_id === undefined ? sql`true` : sql`account_id = ${account_id}`}
        and ${before === undefined ? sql`true` : sql`id < ${before}`}
      order by id desc limit ${limit + 1}
    ), hosts as (
      select n.id, round(greatest(n.memory - n.memory_at_start, 0) / 1048576.0 / count(*), 1)::float8 as memory_mb
      from node n join lane l on l.owner = n.id join instance i on i.lane = l.id
      where not n.dead and i.removed_at is null and i.status = any(${LIVE_STATUSES}::text[])
      group by n.id
    )
    select i.id, i.account_id, a.name as account_name, i.name, i.network, i.status, i.wanted, i.phone,
      i.connected_at, i.last_seen_at, i.last_disconnect_reason,
      day.messages_24h, day.failures_24h, waiting.waiting_sends,
      floor(extract(epoch from now() - (select created_at from message
        where instance_id = i.id and direction = 'inbound' order by id desc limit 1)))::bigint
        as seconds_since_last_inbound,
      i.reconnect_attempts as attempts, case when i.status = any(${LIVE_STATUSES}::text[]) then host.memory_mb end as memory_mb
    from shown i join account a on a.id = i.account_id
    left join lane l on l.id = i.lane
    left join hosts host on host.id = l.owner
    cross join lateral (
      select count(*) as messages_24h, count(*) filter (where m.status = 'failed') as failures_24h
      from (select status from message where instance_id = i.id and sent_at > now() - interval '24 hours'
        limit ${MOST_COUNTED}) m
    ) day
    cross join lateral (
      select count(*) as waiting_sends
      from (select from message where instance_id = i.id and status = 'pending' limit ${MOST_COUNTED}) w
    ) waiting
    order by i.id desc`.execute(db);
  const page = toPage(rows, limit, ({ id }) => id);
  return { ...page, rows: page.rows.map((row) => ({ ...row, ...recommendAction(row) })) };
}
