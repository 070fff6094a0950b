import { sql } from "kysely";
import { requireUser } from "../../core/accounts/accounts.ts";
import { numberVariantsOf } from "../../core/contacts/contacts.ts";
import { readMessages, toStoredMessageView } from "../../core/messages/messages.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import type { OutputOf } from "../../platform/http/route.ts";
import { isWithin, type Reach } from "../../platform/reach.ts";
import type { crmContract } from "./contract.ts";
import { customFieldHandlers } from "./custom-field-handlers.ts";
import { createLeadFollower } from "./lead-follower.ts";
import { type LeadDeps, leadHandlers } from "./lead-handlers.ts";
import { createLeadImporter } from "./lead-importer.ts";
import { getLead, isAmongReachedLeads, isReachedLead, type LeadRow, lockLead } from "./lead-row.ts";

const LAST_MESSAGES = 20;

const LAST_NOTES = 200;

/** Chats of one person, one per instance. */
const CHATS = 50;

type LeadLabels = OutputOf<typeof crmContract.listLeadLabels>;

type LabelCount = LeadLabels["tags"][number];

const MOST_LABELS = 200;

export { createLeadFollower, getLead };

/** Leads, and the data that belongs to them. */
export function crmHandlers(deps: LeadDeps): Handlers<typeof crmContract> {
  const { db } = deps;
  return {
    ...leadHandlers(deps),
    importLeads: createLeadImporter(deps),
    ...customFieldHandlers(db),

    listLeadLabels: ({ caller }) => findLeadLabels(db, requireUser(caller)),
    getLeadDetails: ({ input: { id }, caller }) => getLeadDetails(db, requireUser(caller), id),

    async addLeadNote({ input: { id, note }, caller }) {
      const user = requireUser(caller);
      const { account_id, user_id } = user;
      return db.transaction().execute(async (trx) => {
        await lockLead(trx, user, id);
        return trx
          .insertInto("lead_note")
          .values({ account_id, lead_id: id, user_id, note })
          .returningAll()
          .executeTakeFirstOrThrow();
      });
    },

    async deleteLeadNote({ input: { id, noteId }, caller }) {
      const deleted = await db
        .deleteFrom("lead_note")
        .where("id", "=", noteId)
        .where("lead_id", "=", id)
        .where(
          sql<boolean>`exists (select from lead where id = ${id} and ${isReachedLead(requireUser(caller))})`,
        )
        .returning("id")
        .executeTakeFirst();
      if (!deleted) throw new GatewayError("NOT_FOUND", "There is no such note.");
      return deleted;
    },
  };
}

/** The stages, statuses and tags that leads have, with the number of leads of each; the most used first. */
async function findLeadLabels(db: Db, reach: Reach): Promise<LeadLabels> {
  const count = async (name: ReturnType<typeof sql<string>>, from: ReturnType<typeof sql>) => {
    const { rows } = await sql<LabelCount>`
      select ${name} as name, count(*) as count from ${from}
      where ${isAmongReachedLeads(reach)} and ${name} is not null
      group by 1 order by count desc, name limit ${MOST_LABELS}`.execute(db);
    return rows;
  };
  return {
    stages: await count(sql<string>`kanban_status`, sql`lead`),
    statuses: await count(sql<string>`status`, sql`lead`),
    tags: await count(sql<string>`tag`, sql`lead, unnest(tags) as tag`),
  };
}

/** A lead with all data about the person that is within reach. Throws NOT_FOUND. */
async function getLeadDetails(db: Db, reach: Reach, id: number) {
  const lead = await getLead(db, reach, id);
  const notes = await db
    .selectFrom("lead_note")
    .selectAll()
    .where("lead_id", "=", id)
    .orderBy("id", "desc")
    .limit(LAST_NOTES)
    .execute();
  const conversations = await findConversations(db, reach, lead);
  return { ...lead, notes, conversations, messages: await readLastMessages(db, conversations) };
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

/** Looks for the last messages by their ids, so that it reads the texts of no others. */
async function readLastMessages(db: Db, conversations: readonly { id: number }[]) {
  const { rows } = await sql<{ id: number }>`
    select m.id from unnest(${conversations.map(({ id }) => id)}::bigint[]) as chat (id)
    cross join lateral (
      select id from message where conversation_id = chat.id order by id desc limit ${LAST_MESSAGES}
    ) m
    order by m.id desc limit ${LAST_MESSAGES}`.execute(db);
  const ids = rows.map(({ id }) => id);
  const messages = await readMessages(db, ids);
  return ids.flatMap((id) => {
    const row = messages.get(id);
    return row ? { ...toStoredMessageView(row), instance_id: row.instance_id } : [];
  });
}
