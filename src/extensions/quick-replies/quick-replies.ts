import { type Selectable, sql } from "kysely";
import { requireUser } from "../../core/accounts/accounts.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { type Caller, type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { newestById, readPage } from "../../platform/http/input/pagination.ts";
import type { QuickReplyTable } from "../../tables.ts";
import { type quickRepliesContract, shortcut } from "./contract.ts";

export type QuickReply = Selectable<QuickReplyTable>;

const NEWEST = newestById(sql`id`);

export function quickReplyHandlers(db: Db): Handlers<typeof quickRepliesContract> {
  return {
    async listQuickReplies({ input: { q, ...page }, caller }) {
      const query = db
        .selectFrom("quick_reply")
        .selectAll()
        .where("account_id", "=", accountOf(caller))
        .where(containsText(q, sql`shortcut, title, content`));
      const { rows, pagination } = await readPage(
        page,
        ({ limit, cursor }) => query.where(NEWEST.after(cursor)).orderBy(NEWEST.by).limit(limit).execute(),
        (row) => row.id,
      );
      return new OkResponse(rows, { beside: { pagination } });
    },

    async saveQuickReply({ input, caller }) {
      if (input.content === "" && !input.media_url)
        throw invalidField("content", "must not be empty", "empty");
      // An absent field stays unchanged.
      return db
        .insertInto("quick_reply")
        .values({ ...input, account_id: accountOf(caller) })
        .onConflict((conflict) =>
          conflict
            .columns(["account_id", "shortcut"])
            .doUpdateSet((eb) => ({ ...input, updated_at: eb.fn<Date>("now") })),
        )
        .returningAll()
        .executeTakeFirstOrThrow();
    },

    async deleteQuickReply({ input: { id }, caller }) {
      const removed = await db
        .deleteFrom("quick_reply")
        .where("id", "=", id)
        .where("account_id", "=", accountOf(caller))
        .returning("id")
        .executeTakeFirst();
      if (!removed) throw new GatewayError("NOT_FOUND", "There is no such quick reply.");
      return removed;
    },
  };
}

function accountOf(caller: Caller): number {
  return requireUser(caller).account_id;
}

/** The quick reply for a text that is only its shortcut, with or without the slash. */
export async function findQuickReply(
  db: Db,
  accountId: number,
  text: string,
): Promise<QuickReply | undefined> {
  const name = shortcut.safeParse(text).data;
  if (name === undefined) return undefined;
  return db
    .selectFrom("quick_reply")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("shortcut", "=", name)
    .executeTakeFirst();
}
