import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";

const MOST_AT_ONCE = 1_000_000;

/**
 * Counts messages sent since the last run, so that no request counts a whole month. Skips messages younger
 * than a minute: one with a lower number may still be committed. A message without an outcome is counted
 * after it gets one.
 */
export async function countSentMessages(db: Db): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // The row lock lets one node count at a time.
    await sql`select from message_count_cursor for update`.execute(trx);
    await countDecided(trx);
    await countNew(trx);
  });
}

/** Failed messages do not count; messages that a pause withdrew no longer exist. */
async function countDecided(trx: Trx): Promise<void> {
  await sql`
    with decided as (
      delete from uncounted_message o
      where not exists (select from message m where m.id = o.message and m.status in ('scheduled', 'pending'))
      returning o.*
    ), counted as (
      select d.account_id, d.month, count(*) as sent from decided d join message m on m.id = d.message
      where m.status not in ('failed', 'cancelled') group by 1, 2
    )
    ${ADDED}`.execute(trx);
}

async function countNew(trx: Trx): Promise<void> {
  await sql`
    with mark as (
      select message from message_count_cursor
    ), upto as (
      select least(mark.message + ${MOST_AT_ONCE}, m.id) as message
      from mark, (
        select id from message where created_at < now() - interval '1 minute' order by id desc limit 1
      ) m
    ), found as materialized (
      select m.id, m.account_id, m.status, date_trunc('month', m.created_at at time zone 'utc')::date as month
      from message m, mark, upto
      where m.id > mark.message and m.id <= upto.message and m.direction = 'outbound' and m.origin <> 'phone'
    ), open as (
      insert into uncounted_message (message, account_id, month)
      select id, account_id, month from found where status in ('scheduled', 'pending')
    ), counted as (
      select account_id, month, count(*) as sent from found
      where status not in ('scheduled', 'pending', 'failed', 'cancelled') group by 1, 2
    ), moved as (
      update message_count_cursor set message = upto.message from upto where upto.message > message_count_cursor.message
    )
    ${ADDED}`.execute(trx);
}

const ADDED = sql`
    insert into monthly_message_count as t (account_id, month, sent)
    select c.* from counted c join account a on a.id = c.account_id order by c.account_id, c.month
    on conflict (account_id, month) do update set sent = t.sent + excluded.sent`;
