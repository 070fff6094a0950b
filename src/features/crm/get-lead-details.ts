import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { isWithin, type Reach } from "../../platform/reach.ts";
import { numberVariantsOf } from "../contacts/contacts.ts";
import { selectMessages, toStoredMessageView } from "../messages/messages.ts";
import { getLead, type LeadRow } from "./lead-row.ts";

const LAST_MESSAGES = 20;
const LAST_NOTES = 200;
/** Chats of one person, one per instance. */
const CHATS = 50;

/** A lead with all data about the person that is within reach. Throws NOT_FOUND. */
export async function getLeadDetails(db: Db, reach: Reach, id: number) {
  const lead = await getLead(db, reach, id);
  const notes = await db
    .selectFrom("lead_note")
    .selectAll()
    .where("lead_id", "=", id)
    .orderBy("id", "desc")
    .limit(LAST_NOTES)
    .execute();
  const conversations = await findConversations(db, reach, lead);
  return { ...lead, notes, conversations, messages: await readMessages(db, conversations) };
}

/** By the phone, and by contacts with this phone or the LID of the lead. */
async function findConversations(db: Db, reach: Reach, { account_id, phone, lid }: LeadRow) {
  const phones = phone === null ? [""] : numberVariantsOf(phone);
  return db
    .selectFrom("conversation as c")
    .innerJoin("instance as i", "i.id", "c.instance_id")
    .select(["c.id", "c.instance_id", "c.jid", "c.phone", "c.title"])
    .where("c.account_id", "=", account_id)
    .where("c.type", "=", "contact")
    .where("i.removed_at", "is", null)
    .where(isWithin(reach, sql.ref("i.id")))
    .where((eb) =>
      eb.or([
        eb("c.phone", "in", phones),
        eb("c.jid", "=", lid ?? ""),
        eb(
          "c.jid",
          "in",
          db
            .selectFrom("contact as p")
            .select("p.jid")
            .where("p.account_id", "=", account_id)
            .where((or) => or.or([or("p.phone", "in", phones), or("p.lid", "=", lid ?? "")])),
        ),
      ]),
    )
    .orderBy("c.id")
    .limit(CHATS)
    .execute();
}

async function readMessages(db: Db, conversations: readonly { id: number }[]) {
  const perChat = await Promise.all(
    conversations.map(({ id }) =>
      selectMessages(db)
        .where("m.conversation_id", "=", id)
        .orderBy("m.id", "desc")
        .limit(LAST_MESSAGES)
        .execute(),
    ),
  );
  return perChat
    .flat()
    .sort((a, b) => b.id - a.id)
    .slice(0, LAST_MESSAGES)
    .map((row) => ({ ...toStoredMessageView(row), instance_id: row.instance_id }));
}
