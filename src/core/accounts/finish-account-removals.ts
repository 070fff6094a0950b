import { sql } from "kysely";
import type { Engine } from "../../engine/engine.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { faultPoint } from "../../platform/fault-point.ts";
import { recordAudit } from "../audit/audit.ts";
import { columnsOf } from "../personal-data/personal-data.ts";
import { statementHooks } from "../statement-hooks.ts";

export interface FinishAccountRemovalsDeps {
  db: Db;
  engine: Pick<Engine, "wake">;
  /** Deletes an account's data in networks that the gateway itself stores. */
  deleteOnNetwork(account_id: number): Promise<void>;
}

const ACCOUNTS_AT_ONCE = 20;
const BY_SYSTEM = { caller: { kind: "system" } } as const;

/**
 * Deletes the rows of removed accounts once their instances are gone; the next run continues after a crash.
 * The audit and erasure logs keep their entries, without the callers' addresses.
 */
export async function finishAccountRemovals(deps: FinishAccountRemovalsDeps): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select a.id from account a
    where a.removed_at is not null
      and not exists (select from instance i where i.account_id = a.id)
      and not exists (select from account c where c.parent_id = a.id)
    order by a.id limit ${ACCOUNTS_AT_ONCE}`.execute(deps.db);
  for (const { id } of rows) await finishRemoval(deps, Number(id));
}

async function finishRemoval(
  { db, engine, deleteOnNetwork }: FinishAccountRemovalsDeps,
  id: number,
): Promise<void> {
  engine.wake(await db.transaction().execute((trx) => removeLanes(trx, id)), { changed: true });
  await deleteOnNetwork(id);
  for (const table of accountTables())
    await sql`delete from ${sql.table(table)} where account_id = ${id}`.execute(db);
  faultPoint("account:after-rows");
  await db.transaction().execute(async (trx) => {
    await sql`set local waygate.erasing = 'on'`.execute(trx);
    await sql`update audit set ip = null where account_id = ${id} and ip is not null`.execute(trx);
    await trx.deleteFrom("account").where("id", "=", id).execute();
    const target = { type: "account", id };
    await recordAudit(trx, { by: BY_SYSTEM, action: "account.removed", target, account_id: id });
  });
}

/** Removes the lanes of extensions, which add no more jobs to them. */
async function removeLanes(trx: Trx, id: number): Promise<number[]> {
  const lanes: number[] = [];
  for (const lanesOfAccount of statementHooks().lanesOfAccount) {
    const { rows } = await sql<{ lane: number }>`${lanesOfAccount(id)}`.execute(trx);
    lanes.push(...rows.map(({ lane }) => lane));
  }
  if (lanes.length === 0) return [];
  await trx.selectFrom("lane").select("id").where("id", "in", lanes).orderBy("id").forUpdate().execute();
  await trx.deleteFrom("job").where("lane", "in", lanes).execute();
  await trx.deleteFrom("lane").where("id", "in", lanes).execute();
  return lanes;
}

/** All tables with rows of an account except the two logs; referencing tables first. A test checks it. */
export function accountTables(): string[] {
  const ofExtensions = Object.values(statementHooks().tables).flatMap((tables) => Object.entries(tables));
  return [
    ...ofExtensions.flatMap(([name, table]) => (columnsOf(table).includes("account_id") ? [name] : [])),
    ...TABLES_OF_CORE,
  ];
}

const TABLES_OF_CORE = [
  "media",
  "outgoing_media",
  "action",
  "idempotency",
  "message_search",
  "message_receipt",
  "poll_vote",
  "message",
  "conversation",
  "contact",
  "number_check",
  "group_chat",
  "group_list",
  "api_key",
  "webhook",
  "delivery",
  "attempt",
  "event",
  "connection_log",
  "api_log",
  "account_idempotency",
  "message_usage",
  "monthly_message_count",
  "uncounted_message",
  "stored_file",
  "storage_usage",
  "account_user",
] as const;
