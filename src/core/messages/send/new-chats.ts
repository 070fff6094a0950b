import { type Expression, sql } from "kysely";
import { isGroupJid } from "../../../network/jid.ts";
import type { Db } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { addressesOf } from "../../contacts/contacts.ts";

/** For a message `m`: its chat never had a message in either direction; a group is never new. */
export const IS_NEW_CHAT_SQL = sql<boolean>`(m.jid not like '%@g.us' and ${hasNoHistory(sql`m.conversation_id`)})`;

function hasNoHistory(conversation: Expression<unknown>) {
  return sql`not exists (
    select from message e where e.conversation_id = ${conversation}
      and (e.direction = 'inbound' or e.status in ('delivered', 'read', 'played')))`;
}

/** Whether a message to this jid would begin a chat. */
export async function isNewChat(db: Db, instanceId: number, jid: string): Promise<boolean> {
  if (isGroupJid(jid)) return false;
  const known = await db
    .selectFrom("conversation as c")
    .select("c.id")
    .where("c.instance_id", "=", instanceId)
    .where("c.jid", "in", addressesOf(jid))
    .where(({ not }) => not(sql<boolean>`${hasNoHistory(sql`c.id`)}`))
    .executeTakeFirst();
  return known === undefined;
}

/** Throws REACHOUT_TIMELOCK if the message would begin a chat while the network rejects new chats. */
export async function requireNewChatAllowed(
  db: Db,
  { id, new_chats_locked_until: until }: { id: number; new_chats_locked_until: Date | null },
  jid: string,
): Promise<void> {
  if (until === null || until.getTime() <= Date.now() || !(await isNewChat(db, id, jid))) return;
  throw new GatewayError(
    "REACHOUT_TIMELOCK",
    "WhatsApp does not let this number start new chats for a while.",
    {
      retryAfterSeconds: Math.ceil((until.getTime() - Date.now()) / 1000),
      details: { until: until.toISOString(), jid },
    },
  );
}

/** Records until when the network rejects new chats from the instance. */
export async function lockNewChats(db: Db, instanceId: number, until: Date): Promise<void> {
  await db
    .updateTable("instance")
    .set({ new_chats_locked_until: until })
    .where("id", "=", instanceId)
    .execute();
}
