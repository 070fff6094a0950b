import { sql } from "kysely";
import { declaredTables, type TableName } from "../../core/declared-tables.ts";
import {
  type Anonymisation,
  type AnonymisationBatch,
  type AnonymisationStep,
  ROWS_AT_ONCE,
  type TableDeclaration,
} from "../../core/personal-data/personal-data.ts";
import type { Trx } from "../../platform/db/database.ts";
import { andOfPerson } from "./anonymise-table-steps.ts";

/** Rows that are cached copies of other data or short-lived are deleted. */
export function deleteRowSteps(): AnonymisationStep[] {
  return [
    {
      name: "message_receipt",
      parts: ["messages", "conversations"],
      only: "everybody",
      runBatch: deleteReceipts,
    },
    ...declaredTables().flatMap(([table, declaration]) => toStep(table, declaration)),
  ];
}

function toStep(table: TableName, { deleted, foundBy, ofPerson }: TableDeclaration): AnonymisationStep[] {
  if (!deleted || !foundBy || typeof foundBy === "function") return [];
  return [
    {
      name: table,
      parts: deleted.parts,
      only: ofPerson ? undefined : "everybody",
      async runBatch(trx, run) {
        const owners = foundBy === "instance_id" ? run.instances : [run.account_id];
        const { numAffectedRows = 0n } = await sql`
          delete from ${sql.table(table)}
          where ${sql.ref(foundBy)} = any(${owners}::bigint[]) ${andOfPerson(ofPerson, run)}`.execute(trx);
        return { rows: Number(numAffectedRows), after: null };
      },
    },
  ];
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
