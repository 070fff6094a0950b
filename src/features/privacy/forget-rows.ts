import { sql } from "kysely";
import type { Trx } from "../../platform/db.ts";
import type { Batch, Run, Step } from "./anonymise-run.ts";

/** What is known better elsewhere, or over soon, goes with its rows. */
export const FORGET_STEPS: readonly Step[] = [
  { name: "outgoing_media", parts: ["messages"], take: forgetCampaignFiles },
  {
    name: "idempotency",
    parts: ["messages"],
    take: (trx, run) => forgetBy(trx, "idempotency", "instance_id", run),
  },
  {
    name: "integration_inbound",
    parts: ["messages"],
    take: (trx, run) => forgetBy(trx, "integration_inbound", "account_id", run),
  },
  {
    name: "integration_chat",
    parts: ["messages"],
    take: (trx, run) => forgetBy(trx, "integration_chat", "account_id", run),
  },
  {
    name: "number_check",
    parts: ["conversations"],
    take: (trx, run) => forgetBy(trx, "number_check", "instance_id", run),
  },
  {
    name: "group_chat",
    parts: ["conversations"],
    take: (trx, run) => forgetBy(trx, "group_chat", "instance_id", run),
  },
  {
    name: "group_list",
    parts: ["conversations"],
    take: (trx, run) => forgetBy(trx, "group_list", "instance_id", run),
  },
  {
    name: "account_idempotency",
    parts: ["account"],
    take: (trx, run) => forgetBy(trx, "account_idempotency", "account_id", run),
  },
];

type Forgotten =
  | "idempotency"
  | "integration_inbound"
  | "integration_chat"
  | "number_check"
  | "group_chat"
  | "group_list"
  | "account_idempotency";

async function forgetBy(
  trx: Trx,
  table: Forgotten,
  owner: "account_id" | "instance_id",
  run: Run,
): Promise<Batch> {
  const owners = owner === "account_id" ? [run.account_id] : run.instances;
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ${sql.ref(owner)} = any(${owners}::bigint[])`.execute(trx);
  return { rows: Number(numAffectedRows), after: null };
}

/** The files that wait for the messages of a campaign. */
async function forgetCampaignFiles(trx: Trx, run: Run): Promise<Batch> {
  const { numAffectedRows = 0n } = await sql`
    delete from outgoing_media where id in (
      select media ->> 'shared' from campaign where account_id = ${run.account_id} and media is not null)`.execute(
    trx,
  );
  return { rows: Number(numAffectedRows), after: null };
}
