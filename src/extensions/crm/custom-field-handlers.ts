import { sql } from "kysely";
import { lockAccount, requireUser } from "../../core/accounts/accounts.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import { type crmContract, MAX_FIELDS } from "./contract.ts";

type FieldHandlers = Pick<
  Handlers<typeof crmContract>,
  "listCustomFields" | "createCustomField" | "updateCustomField" | "deleteCustomField"
>;

export function customFieldHandlers(db: Db): FieldHandlers {
  return {
    async listCustomFields({ input: { limit, cursor, q }, caller }) {
      const before = readCursor(cursor);
      const found = await db
        .selectFrom("custom_field")
        .selectAll()
        .where("account_id", "=", requireUser(caller).account_id)
        .$if(before !== undefined, (query) => query.where("id", "<", before ?? 0))
        .where(containsText(q, sql`name, array_to_string(options, ' ')`))
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      const { rows, pagination } = toPage(found, limit, (row) => row.id);
      return new OkResponse(rows, { beside: { pagination } });
    },

    async createCustomField({ input: { name, type, options }, caller }) {
      const { account_id } = requireUser(caller);
      requireOptions(type, options);
      return db.transaction().execute(async (trx) => {
        await requireSpace(trx, account_id);
        const added = await trx
          .insertInto("custom_field")
          .values({ account_id, name, type, options })
          .onConflict((conflict) => conflict.doNothing())
          .returningAll()
          .executeTakeFirst();
        return added ?? refuseName();
      });
    },

    async updateCustomField({ input: { id, ...change }, caller }) {
      return db.transaction().execute((trx) => changeField(trx, requireUser(caller).account_id, id, change));
    },

    async deleteCustomField({ input: { id }, caller }) {
      const removed = await db
        .deleteFrom("custom_field")
        .where("id", "=", id)
        .where("account_id", "=", requireUser(caller).account_id)
        .returning("id")
        .executeTakeFirst();
      return removed ?? refuseUnknown();
    },
  };
}

function refuseName(): never {
  throw new GatewayError("CONFLICT", "A custom field with this name already exists. Use another name.");
}

function refuseUnknown(): never {
  throw new GatewayError("NOT_FOUND", "There is no such custom field.");
}

function requireOptions(type: string, options: readonly string[]): void {
  if (type === "select" && options.length === 0)
    throw invalidField("options", "is required for fields of the type select", "missing");
  if (type !== "select" && options.length > 0)
    throw invalidField("options", "is allowed only for fields of the type select", "not_allowed_here");
}

async function requireSpace(trx: Trx, accountId: number): Promise<void> {
  await lockAccount(trx, accountId);
  const declared = await trx
    .selectFrom("custom_field")
    .select("id")
    .where("account_id", "=", accountId)
    .execute();
  if (declared.length < MAX_FIELDS) return;
  throw new GatewayError("QUOTA_EXCEEDED", `An account can declare at most ${MAX_FIELDS} custom fields.`, {
    details: { limit: MAX_FIELDS, used: declared.length, left: 0 },
  });
}

async function changeField(
  trx: Trx,
  accountId: number,
  id: number,
  change: { name?: string; options?: string[] },
) {
  const field = await trx
    .selectFrom("custom_field")
    .selectAll()
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .forUpdate()
    .executeTakeFirst();
  if (!field) return refuseUnknown();
  const { name = field.name, options = field.options } = change;
  requireOptions(field.type, options);
  if (name !== field.name) await rename(trx, accountId, field.name, name);
  return trx
    .updateTable("custom_field")
    .set({ name, options })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Moves the leads' values from the old field name to the new one. */
async function rename(trx: Trx, accountId: number, from: string, to: string): Promise<void> {
  const existing = await trx
    .selectFrom("custom_field")
    .select("id")
    .where("account_id", "=", accountId)
    .where("name", "=", to)
    .executeTakeFirst();
  if (existing) refuseName();
  await sql`
    with locked as (
      select id from lead where account_id = ${accountId} and custom_fields ? ${from} order by id for update
    )
    update lead l set custom_fields = l.custom_fields - ${from}::text
      || jsonb_build_object(${to}::text, l.custom_fields -> ${from})
    from locked where l.id = locked.id`.execute(trx);
}
