import { sql } from "kysely";
import { z } from "zod";
import type { EventDraft } from "../../core/events/events.ts";
import type { Trx } from "../../platform/db/database.ts";
import type { Integration } from "./integration-row.ts";
import type { ReplyChat } from "./queue-replies.ts";

/**
 * Fields of every configuration with automatic replies: two bots in one chat would reply to each other
 * without end.
 */
export const replyLimitFields = {
  loop_protection: z.boolean().default(true),
  max_replies_per_minute: z.number().int().min(1).max(600).default(15),
};

export type ReplyLimit = z.output<z.ZodObject<typeof replyLimitFields>>;

const FIRST_PAUSE_S = 60;
const LONGEST_PAUSE_S = 3_600;
/** After this time without a pause the next one is short again. */
const FORGIVEN_AFTER_S = 3_600;

/** Whether automatic replies are paused in the chat now. */
export function isReplyPaused(
  { loop_protection }: ReplyLimit,
  { replies_paused_until: until }: { replies_paused_until?: Date | null },
): boolean {
  return loop_protection && until !== undefined && until !== null && until > new Date();
}

/**
 * Counts one automatic reply in a chat, in the transaction that queues it. The reply that reaches the limit
 * of a minute is the last one: the chat pauses, each time for twice as long, from a minute up to an hour.
 * Returns the event of the pause.
 */
export async function countReply(
  trx: Trx,
  integration: Pick<Integration, "id" | "account_id" | "instance_id" | "provider">,
  { chat, ...person }: ReplyChat & { chat: string },
  { loop_protection, max_replies_per_minute: limit }: ReplyLimit,
): Promise<EventDraft[]> {
  if (!loop_protection) return [];
  const replies = await count(trx, integration, chat);
  if (replies < limit) return [];
  const { pauses, until } = await pause(trx, integration, chat);
  const { instance_id, provider } = integration;
  const { jid, phone, lid } = person;
  const data = { provider, jid, phone, lid, reason: "reply_limit", limit, pauses, paused_until: until };
  return [{ event: "integration.paused", instance_id, chat: jid, data }];
}

async function count(
  trx: Trx,
  { id, account_id }: Pick<Integration, "id" | "account_id">,
  chat: string,
): Promise<number> {
  const isRecent = sql`c.replies_since > now() - interval '1 minute'`;
  const { rows } = await sql<{ replies: number }>`
    insert into integration_chat as c (integration_id, account_id, chat, replies, replies_since)
    values (${id}, ${account_id}, ${chat}, 1, now())
    on conflict (integration_id, chat) do update set
      replies = case when ${isRecent} then c.replies + 1 else 1 end,
      replies_since = case when ${isRecent} then c.replies_since else now() end
    returning replies`.execute(trx);
  return rows[0]?.replies ?? 0;
}

interface Pause {
  /** Consecutive pauses. */
  pauses: number;
  until: Date;
}

async function pause(trx: Trx, { id }: Pick<Integration, "id">, chat: string): Promise<Pause> {
  const before = sql`case when c.replies_paused_until > now() - ${FORGIVEN_AFTER_S} * interval '1 second'
    then c.pauses else 0 end`;
  const { rows } = await sql<Pause>`
    update integration_chat c set replies = 0, replies_since = null,
      pauses = least(${before} + 1, 100),
      replies_paused_until = now()
        + least(${FIRST_PAUSE_S} * 2 ^ least(${before}, 10), ${LONGEST_PAUSE_S}) * interval '1 second'
    where c.integration_id = ${id} and c.chat = ${chat}
    returning c.pauses, c.replies_paused_until as until`.execute(trx);
  const [row] = rows;
  if (!row) throw new Error("a chat that was counted is gone");
  return row;
}
