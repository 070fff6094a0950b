import { sql } from "kysely";
import type { Trx } from "../../platform/db/database.ts";
import {
  type Anonymisation,
  type AnonymisationBatch,
  type AnonymisationStep,
  ROWS_AT_ONCE,
} from "./anonymisation.ts";
import { andOfPerson, hasRowsOfPerson } from "./erased-person.ts";
import type { DeclaredTable } from "./personal-data.ts";
import type { AnonymisationPart } from "./treatment.ts";

type Owner = "account_id" | "instance_id";

const DELETED_TABLES: readonly (readonly [DeclaredTable, Owner, AnonymisationPart])[] = [
  ["idempotency", "instance_id", "messages"],
  ["integration_inbound", "account_id", "messages"],
  ["integration_chat", "account_id", "messages"],
  ["number_check", "instance_id", "conversations"],
  ["group_chat", "instance_id", "conversations"],
  ["group_list", "instance_id", "conversations"],
  ["account_idempotency", "account_id", "account"],
];

/** Rows that are cached copies of other data or short-lived are deleted. */
export const DELETE_ROW_STEPS: readonly AnonymisationStep[] = [
  { name: "outgoing_media", parts: ["messages"], only: "everybody", runBatch: deleteCampaignFiles },
  {
    name: "message_receipt",
    parts: ["messages", "conversations"],
    only: "everybody",
    runBatch: deleteReceipts,
  },
  ...DELETED_TABLES.map(
    ([name, owner, part]): AnonymisationStep => ({
      name,
      parts: [part],
      only: hasRowsOfPerson(name) ? undefined : "everybody",
      runBatch: (trx, run) => deleteRows(trx, name, owner, run),
    }),
  ),
];

async function deleteRows(
  trx: Trx,
  table: DeclaredTable,
  owner: Owner,
  run: Anonymisation,
): Promise<AnonymisationBatch> {
  const owners = owner === "account_id" ? [run.account_id] : run.instances;
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)}
    where ${sql.ref(owner)} = any(${owners}::bigint[]) ${andOfPerson(table, run.person)}`.execute(trx);
  return { rows: Number(numAffectedRows), after: null };
}

/** Deletes the files that wait for a campaign's messages. */
async function deleteCampaignFiles(trx: Trx, run: Anonymisation): Promise<AnonymisationBatch> {
  const { numAffectedRows = 0n } = await sql`
    delete from outgoing_media where id in (
      select media ->> 'shared' from campaign where account_id = ${run.account_id} and media is not null)`.execute(
    trx,
  );
  return { rows: Number(numAffectedRows), after: null };
}

/** Deletes the record of who read what in a group. */
async function deleteReceipts(trx: Trx, run: Anonymisation): Promise<AnonymisationBatch> {
  const { numAffectedRows = 0n } = await sql`
    with found as materialized (
      select r.message, r.person from unnest(${run.instances}::bigint[]) as i (id) cross join lateral (
        select message, person from message_receipt where instance_id = i.id and message <= ${run.until.message ?? 0}
        limit ${ROWS_AT_ONCE}) r
      limit ${ROWS_AT_ONCE}
    )
    delete from message_receipt r using found f where r.message = f.message and r.person = f.person`.execute(
    trx,
  );
  const rows = Number(numAffectedRows);
  return { rows, after: rows === 0 ? null : rows };
}
