import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";

/** The activity of an instance in the last 24 hours. */
export interface InstanceActivity {
  /** Null: the instance has received no message yet. */
  seconds_since_last_inbound: number | null;
  messages_24h: number;
  failures_24h: number;
  /** Newest first. */
  last_errors: { code: string; message: string; at: string }[];
}

const MOST_COUNTED = 10_000;
const ERRORS_SHOWN = 5;

/** Counts at most the newest 10,000 messages, since larger numbers add nothing for the reader. */
export async function readInstanceActivity(db: Db, instanceId: number): Promise<InstanceActivity> {
  const { rows } = await sql<InstanceActivity>`
    with day as materialized (
      select id, status, error, sent_at from message
      where instance_id = ${instanceId} and sent_at > now() - interval '24 hours'
      order by sent_at desc, id desc limit ${MOST_COUNTED}
    )
    select count(*) as messages_24h, count(*) filter (where status = 'failed') as failures_24h,
      (select floor(extract(epoch from now() - created_at))::bigint from message
        where instance_id = ${instanceId} and direction = 'inbound' order by id desc limit 1)
        as seconds_since_last_inbound,
      (select coalesce(json_agg(f), '[]') from (
        select error ->> 'code' as code, error ->> 'message' as message,
          to_char(sent_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from day
        where status = 'failed' and error is not null order by sent_at desc, id desc limit ${ERRORS_SHOWN}
      ) f) as last_errors
    from day`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("the aggregate returned no row");
  return row;
}
