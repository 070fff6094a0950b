import { type RawBuilder, sql } from "kysely";
import { declarationOf, declaredTables, type TableName } from "../../core/declared-tables.ts";
import {
  type Anonymisation,
  type AnonymisationBatch,
  type AnonymisationPart,
  type AnonymisationStep,
  assignments,
  ROWS_AT_ONCE,
  type TableDeclaration,
} from "../../core/personal-data/personal-data.ts";
import type { Trx } from "../../platform/db/database.ts";

/** Tables whose names are part of every event: they go first. */
const NAMED: readonly TableName[] = ["account", "account_user", "instance", "webhook"];

/**
 * New messages are stored under these rows. They go before the messages, so that no new message is stored
 * under an old name.
 */
const CHATS: readonly TableName[] = ["contact", "conversation"];

/** The names of the account, its users, instances and webhooks, which its events contain. */
export const nameSteps = () => NAMED.map(toStep);

export const chatSteps = () => CHATS.map(toStep);

/** The other tables, which need only the declared treatment of their columns. */
export const remainingTableSteps = () =>
  treatedTables()
    .filter((table) => !NAMED.includes(table) && !CHATS.includes(table))
    .map(toStep);

/** The tables whose last rows `until` records. */
export const numberedTables = (): TableName[] => [...treatedTables(), "message", "event", "job"];

function treatedTables(): TableName[] {
  return declaredTables().flatMap(([table, { foundBy, personal }]) => (foundBy && personal ? [table] : []));
}

function toStep(table: TableName): AnonymisationStep {
  const declaration = declarationOf(table);
  return {
    name: table,
    parts: partsOf(declaration),
    only: declaration.ofPerson ? undefined : "everybody",
    async runBatch(trx, run, after) {
      const { rows } = await findPage(table, declaration, run, Number(after ?? 0)).execute(trx);
      const ids = rows.map(({ id }) => id);
      await anonymiseRows(trx, run, table, ids);
      return toBatch(ids);
    },
  };
}

function partsOf({ personal = {} }: TableDeclaration): AnonymisationPart[] {
  return [...new Set(Object.values(personal).flatMap(({ parts }) => parts))];
}

function findPage(
  table: TableName,
  { foundBy, ofPerson }: TableDeclaration,
  run: Anonymisation,
  after: number,
): RawBuilder<{ id: number }> {
  const within = sql`id > ${after} and id <= ${run.until[table] ?? 0} ${andOfPerson(ofPerson, run)}
    order by id limit ${ROWS_AT_ONCE}`;
  if (typeof foundBy === "function") return foundBy(run, within);
  if (foundBy === "instance_id")
    return sql`
      select t.id from unnest(${run.instances}::bigint[]) as i (id) cross join lateral (
        select id from ${sql.table(table)} where instance_id = i.id and ${within}) t
      order by t.id limit ${ROWS_AT_ONCE}`;
  return sql`select id from ${sql.table(table)} where ${sql.ref(foundBy ?? "id")} = ${run.account_id} and ${within}`;
}

function toBatch(ids: readonly number[]): AnonymisationBatch {
  return { rows: ids.length, after: ids.length < ROWS_AT_ONCE ? null : ids.at(-1) };
}

/** Narrows a statement to the rows of the one person, if the run is about one. */
export function andOfPerson(
  ofPerson: TableDeclaration["ofPerson"],
  { person }: Anonymisation,
): RawBuilder<unknown> {
  return person && ofPerson ? sql`and ${ofPerson(person)}` : sql``;
}

/** Applies the table's declared treatment to these rows. */
export async function anonymiseRows(
  trx: Trx,
  run: Anonymisation,
  table: TableName,
  ids: readonly number[],
): Promise<void> {
  const changes = assignments(declarationOf(table), run);
  if (!changes || ids.length === 0) return;
  await sql`
    with locked as (
      select id from ${sql.table(table)} where id = any(${ids}::bigint[]) order by id for update
    )
    update ${sql.table(table)} t set ${changes} where id in (select id from locked)`.execute(trx);
}
