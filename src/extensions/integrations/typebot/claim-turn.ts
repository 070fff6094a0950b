import { sql } from "kysely";
import type { Db, Trx } from "../../../platform/db/database.ts";
import type { Integration } from "../integration-row.ts";
import {
  claimMessageLink,
  type MessageLink,
  type MessageLinkKey,
  updateMessageLink,
} from "../message-link.ts";
import type { Joined } from "./input/collect-messages.ts";

type Owner = Pick<Integration, "id" | "account_id" | "lane">;

/** A message and its joined messages, which the bot receives as one. */
export interface Claim {
  link: MessageLink;
  isNew: boolean;
  joined: readonly Joined[];
}

/**
 * Claims a message with its joined messages, before the bot is asked. `isNew: false` with a claimed link: a
 * process died during the request, which contained `joined`.
 */
export async function claimTurn(
  db: Db,
  owner: Owner,
  key: MessageLinkKey,
  joined: readonly Joined[],
): Promise<Claim> {
  return db.transaction().execute(async (trx) => {
    const { link, isNew } = await claimMessageLink(trx, owner, key);
    if (!isNew) return { link, isNew, joined: await findClaimed(trx, owner, key, joined) };
    await claimJoined(trx, owner, key, joined);
    return { link, isNew, joined };
  });
}

/**
 * Also claims messages that came after a request with an unknown outcome: its repetition contains all of
 * them.
 */
export async function claimJoined(
  db: Db | Trx,
  owner: Owner,
  { chat }: Pick<MessageLinkKey, "chat">,
  joined: readonly Joined[],
): Promise<void> {
  for (const { message_id } of joined) await claimMessageLink(db, owner, { chat, message_id });
}

async function findClaimed(
  trx: Trx,
  { id }: Owner,
  { chat }: MessageLinkKey,
  joined: readonly Joined[],
): Promise<Joined[]> {
  if (joined.length === 0) return [];
  const rows = await selectJoined(trx, id, chat, joined).where("status", "=", "claimed").execute();
  const claimed = new Set(rows.map(({ message_id }) => message_id));
  return joined.filter(({ message_id }) => claimed.has(message_id));
}

function selectJoined(trx: Trx, integrationId: number, chat: string, joined: readonly Joined[]) {
  return trx
    .selectFrom("integration_link")
    .select("message_id")
    .where("integration_id", "=", integrationId)
    .where("chat", "=", chat)
    .where("part", "=", 0)
    .where(
      "message_id",
      "in",
      joined.map(({ message_id }) => message_id),
    );
}

/** The bot has not received the messages for certain: each one waits on its own again. */
export async function releaseTurn(
  db: Db,
  { id }: Owner,
  { link, joined }: Claim,
  change: Parameters<typeof updateMessageLink>[2] = {},
): Promise<void> {
  const message_ids = joined.map(({ message_id }) => message_id);
  await db.transaction().execute(async (trx) => {
    await updateMessageLink(trx, link.id, { ...change, status: "waiting" });
    await sql`
      update integration_link set status = 'waiting', updated_at = now()
      where integration_id = ${id} and chat = ${link.chat} and part = 0 and status = 'claimed'
        and message_id = any(${message_ids})`.execute(trx);
  });
}

/** Ends the jobs of joined messages, and returns the lanes whose waiting jobs change. */
export async function endJoined(
  trx: Trx,
  { id: integration_id, account_id, lane }: Owner,
  chat: string,
  joined: readonly Joined[],
): Promise<number[]> {
  if (joined.length === 0) return [];
  await trx
    .insertInto("integration_link")
    .values(
      joined.map(({ message_id }) => ({
        integration_id,
        account_id,
        chat,
        message_id,
        origin: "whatsapp" as const,
        status: "skipped" as const,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(["integration_id", "chat", "message_id", "part"])
        .where("message_id", "is not", null)
        .doUpdateSet({ status: "skipped", updated_at: sql<Date>`now()` })
        .where("integration_link.status", "in", ["claimed", "waiting"]),
    )
    .execute();
  await trx
    .deleteFrom("job")
    .where(
      "id",
      "in",
      joined.map(({ job }) => job),
    )
    .execute();
  return [lane];
}
