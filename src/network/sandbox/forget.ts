import type { Pool } from "pg";
import { phoneOf } from "./numbers.ts";

/** Drops copies of messages, with their files, and what was noted of the traffic and the people of these phones. */
export async function forget(
  pool: Pool,
  phones: readonly string[],
  messages: readonly { writer: string; id: string }[],
): Promise<void> {
  const known = messages.flatMap(({ writer, id }) => {
    const phone = phoneOf(writer);
    return phone === null ? [] : [{ phone, id }];
  });
  const [writers, ids] = [known.map(({ phone }) => phone), known.map(({ id }) => id)];
  await pool.query(
    `delete from sandbox.message m using unnest($1::text[], $2::text[]) as x (phone, id)
     where m.phone = x.phone and m.id = x.id`,
    [writers, ids],
  );
  await pool.query("delete from sandbox.media where id = any ($1)", [
    known.map(({ phone, id }) => `${phone}/${id}`),
  ]);
  if (phones.length === 0) return;
  await pool.query(
    `update sandbox.ledger set content = null, chat = null
     where device in (select id from sandbox.device where phone = any ($1))`,
    [phones],
  );
  await pool.query("delete from sandbox.message where phone = any ($1)", [phones]);
  await pool.query("update sandbox.contact set name = null where owner = any ($1)", [phones]);
}
