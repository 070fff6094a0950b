import { Migrator, sql } from "kysely";
import { expect, test } from "vitest";
import { migrations } from "../../../migrations/all.ts";
import { createEmptyDatabase } from "../../../test/database.ts";
import { moveLeftoverMessages } from "./move-messages.ts";

test("an older database's two contact rows of one person are merged, with their messages", async () => {
  const store = await createEmptyDatabase();
  const { db } = store.database;
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  await migrator.migrateTo("0011-whatsapp");
  await sql`
    insert into contact (account_id, instance_id, jid, lid, phone, push_name) values
      (1, 1, '9@lid', '9@lid', null, 'Bia'), (1, 1, '5521@s.whatsapp.net', '9@lid', '5521', null),
      (1, 1, '8@lid', null, null, 'Leo')`.execute(db);
  await sql`
    insert into conversation (account_id, instance_id, jid, type) values
      (1, 1, '9@lid', 'contact'), (1, 1, '8@lid', 'contact')`.execute(db);
  await sql`
    insert into message (account_id, instance_id, conversation_id, message_id, direction, from_me, origin, jid, type,
      content, status)
    select 1, 1, id, 'm' || id, 'inbound', false, 'contact', jid, 'image',
      '{"kind": "media", "caption": "Hello, World"}', 'received' from conversation`.execute(db);
  const { error } = await migrator.migrateToLatest();
  expect(error).toBeUndefined();
  await moveLeftoverMessages(db);

  const people = await db.selectFrom("contact").select(["jid", "lid"]).orderBy("jid").execute();
  expect(people).toEqual([
    { jid: "5521@s.whatsapp.net", lid: "9@lid" },
    { jid: "8@lid", lid: "8@lid" },
  ]);
  const { rows } = await sql`
    select m.jid, c.jid as chat, c.last_message_at is not null as is_listed, tsvector_to_array(s.words) as words
    from message m join conversation c on c.id = m.conversation_id join message_search s on s.id = m.id
    order by m.jid`.execute(db);
  const words = ["1:#image", "1:hello", "1:world"];
  expect(rows).toEqual([
    { jid: "5521@s.whatsapp.net", chat: "5521@s.whatsapp.net", is_listed: true, words },
    { jid: "8@lid", chat: "8@lid", is_listed: true, words },
  ]);
  await store.drop();
});
