import { type RawBuilder, sql } from "kysely";
import type { Trx } from "../../platform/db/database.ts";
import {
  type Anonymisation,
  type AnonymisationBatch,
  type AnonymisationStep,
  ROWS_AT_ONCE,
} from "./anonymisation.ts";
import { andOfPerson, hasRowsOfPerson } from "./erased-person.ts";
import { type DeclaredTable, dataOf } from "./personal-data.ts";
import { type AnonymisationPart, assignments } from "./treatment.ts";

type Page = (table: DeclaredTable, run: Anonymisation, after: number) => RawBuilder<{ id: number }>;

const within = (table: DeclaredTable, run: Anonymisation, after: number): RawBuilder<unknown> =>
  sql`id > ${after} and id <= ${run.until[table] ?? 0} ${andOfPerson(table, run.person)}
  order by id limit ${ROWS_AT_ONCE}`;

const ofAccount: Page = (table, run, after) => sql`
  select id from ${sql.table(table)} where account_id = ${run.account_id} and ${within(table, run, after)}`;

const ofInstances: Page = (table, run, after) => sql`
  select t.id from unnest(${run.instances}::bigint[]) as i (id) cross join lateral (
    select id from ${sql.table(table)} where instance_id = i.id and ${within(table, run, after)}) t
  order by t.id limit ${ROWS_AT_ONCE}`;

const ofCampaigns: Page = (table, run, after) => sql`
  select t.id from (select id from campaign where account_id = ${run.account_id}) c cross join lateral (
    select id from ${sql.table(table)} where campaign_id = c.id and ${within(table, run, after)}) t
  order by t.id limit ${ROWS_AT_ONCE}`;

const itself: Page = (_, run, after) => sql`
  select id from account where id = ${run.account_id} and id > ${after}`;

type AnonymisedTable = readonly [DeclaredTable, Page];

/** Tables whose names are part of every event: they go first. */
const NAMED: readonly AnonymisedTable[] = [
  ["account", itself],
  ["account_user", ofAccount],
  ["instance", ofAccount],
  ["webhook", ofAccount],
];

/**
 * New messages are stored under these rows. They go before the messages, so that no new message is stored
 * under an old name.
 */
const CHATS: readonly AnonymisedTable[] = [
  ["contact", ofInstances],
  ["conversation", ofInstances],
];

const PERSON_TABLES: readonly AnonymisedTable[] = [
  ["attempt", ofInstances],
  ["lead", ofAccount],
  ["lead_note", ofAccount],
  ["campaign_recipient", ofCampaigns],
  ["campaign", ofAccount],
  ["consent", ofAccount],
  ["integration", ofAccount],
  ["integration_link", ofAccount],
  ["custom_field", ofAccount],
  ["quick_reply", ofAccount],
  ["api_log", ofAccount],
  ["audit", ofAccount],
  ["data_request", ofAccount],
];

/** The tables whose last rows `until` records. */
export const NUMBERED_TABLES: readonly DeclaredTable[] = [
  ...[...NAMED, ...CHATS, ...PERSON_TABLES].map(([table]) => table),
  ...(["message", "event", "job"] as const),
];

/** The names of the account, its users, instances and webhooks, which its events contain. */
export const NAME_STEPS = NAMED.map(toStep);

export const CHAT_STEPS = CHATS.map(toStep);

/** The other tables, which need only the declared treatment of their columns. */
export const PERSON_STEPS = PERSON_TABLES.map(toStep);

function toStep([table, page]: AnonymisedTable): AnonymisationStep {
  return {
    name: table,
    parts: partsOf(table),
    only: hasRowsOfPerson(table) ? undefined : "everybody",
    runBatch: (trx, run, after) => sweep(trx, run, table, page(table, run, Number(after ?? 0))),
  };
}

function partsOf(table: DeclaredTable): AnonymisationPart[] {
  return [...new Set(Object.values(dataOf(table).personal ?? {}).flatMap(({ parts }) => parts))];
}

async function sweep(
  trx: Trx,
  run: Anonymisation,
  table: DeclaredTable,
  page: RawBuilder<{ id: number }>,
): Promise<AnonymisationBatch> {
  const { rows } = await page.execute(trx);
  const ids = rows.map(({ id }) => id);
  await anonymiseRows(trx, run, table, ids);
  const last = ids.at(-1);
  return { rows: ids.length, after: ids.length < ROWS_AT_ONCE || last === undefined ? null : last };
}

/** Applies the table's declared treatment to these rows. */
export async function anonymiseRows(
  trx: Trx,
  run: Anonymisation,
  table: DeclaredTable,
  ids: readonly number[],
): Promise<void> {
  const changes = assignments(dataOf(table), run);
  if (!changes || ids.length === 0) return;
  await sql`
    with locked as (
      select id from ${sql.table(table)} where id = any(${ids}::bigint[]) order by id for update
    )
    update ${sql.table(table)} t set ${changes} where id in (select id from locked)`.execute(trx);
}
