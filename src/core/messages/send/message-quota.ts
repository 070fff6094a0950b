import { sql } from "kysely";
import type { Db } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { nextMonthStart } from "../../plans/plans.ts";

/** The month's usage of an account whose message exceeds the quota. */
export interface ExceededQuota {
  limit: number;
  used: number;
}

/** Creates the missing counters of the month in their lock order. */
export async function createMonthCounters(db: Db, accounts: readonly number[], month: string): Promise<void> {
  await sql`
    insert into message_usage (account_id, month)
    select id, ${month}::date from unnest(${accounts}::bigint[]) as x (id) order by id
    on conflict do nothing`.execute(db);
}

/** Decides which messages the month's quota allows: CTEs over `numbered` that lock the counters, in order. */
export function grantedByQuotaSql(month: string) {
  return sql`
    usage as materialized (
      select account_id, used from message_usage
      where month = ${month}::date and account_id in (select account_id from numbered where max_messages is not null)
      order by account_id for update
    ), candidates as (
      select n.*, n.key is null
        or row_number() over (partition by instance_id, route, key order by ord) = 1 as is_first
      from numbered n
    ), placed as (
      select c.*, count(*) filter (where is_first) over (partition by account_id order by ord) as place
      from candidates c
    ), granted as materialized (
      select p.* from placed p left join usage u using (account_id)
      where p.is_first and (p.max_messages is null or p.place <= p.max_messages - u.used)
    )`;
}

/** Counts the accepted messages, and returns those that exceed the quota. */
export function countedByQuotaSql(month: string) {
  return {
    counted: sql`
      counted as (
        update message_usage u set used = u.used + n.taken
        from (select account_id, count(*) as taken from accepted where max_messages is not null group by account_id) n
        where u.account_id = n.account_id and u.month = ${month}::date
      )`,
    refused: sql`
      select p.ord, null::bigint as id, u.used from placed p join usage u using (account_id)
      where p.is_first and p.max_messages is not null and p.ord not in (select ord from granted)`,
  };
}

/** The error for a send whose account has used up its month. */
export function messageQuotaExceeded({ limit, used }: ExceededQuota): GatewayError {
  const resets_at = nextMonthStart();
  return new GatewayError(
    "MESSAGE_QUOTA_EXCEEDED",
    `The account has used up the ${limit} messages that its plan allows this month.`,
    {
      retryAfterSeconds: Math.ceil((resets_at.getTime() - Date.now()) / 1000),
      details: {
        quota: "max_messages",
        limit,
        used,
        left: Math.max(0, limit - used),
        resets_at: resets_at.toISOString(),
      },
    },
  );
}
