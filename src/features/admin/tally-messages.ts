import { sql } from "kysely";
import type { Db } from "../../platform/db.ts";

const MOST_AT_ONCE = 1_000_000;

/**
 * Counts what has been sent since it was last run, so that nobody counts a whole month to see a number. Messages younger
 * than a minute are left: one with a lower number may still be committed.
 */
export async function tallyMessages(db: Db): Promise<void> {
  await sql`
    with mark as (
      select message from tally_mark for update
    ), upto as (
      select least(mark.message + ${MOST_AT_ONCE}, m.id) as message
      from mark, (
        select id from message where created_at < now() - interval '1 minute' order by id desc limit 1
      ) m
    ), counted as (
      select m.account_id, date_trunc('month', m.created_at at time zone 'utc')::date as month, count(*) as sent
      from message m, mark, upto
      where m.id > mark.message and m.id <= upto.message and m.direction = 'outbound' and m.origin <> 'phone'
      group by 1, 2
    ), added as (
      insert into message_tally as t (account_id, month, sent)
      select c.* from counted c join account a on a.id = c.account_id order by c.account_id, c.month
      on conflict (account_id, month) do update set sent = t.sent + excluded.sent
    )
    update tally_mark set message = upto.message from upto where upto.message > tally_mark.message`.execute(
    db,
  );
}
