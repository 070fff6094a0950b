import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import type { Trx } from "../../platform/db/database.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import type { OutputOf } from "../../platform/http/route.ts";
import { requireUser } from "../accounts/accounts.ts";
import { withdrawSendsTo } from "../campaigns/campaigns.ts";
import { canonicalNumberOf, findLidMappings } from "../contacts/contacts.ts";
import { quotaExceededMessage, readPlanQuota } from "../plans/plans.ts";
import { type crmContract, MAX_FIELDS, MAX_INVALID, MAX_TAGS } from "./contract.ts";
import { countLeads, type LeadDeps } from "./lead-handlers.ts";
import type { LeadRow } from "./lead-row.ts";
import { findDeclaredFields } from "./merge-fields.ts";
import { type ParsedLead, type RejectedRow, readLeadFile, rejectRow } from "./read-lead-file.ts";

type ImportHandler = Handlers<typeof crmContract>["importLeads"];
type Imported = OutputOf<typeof crmContract.importLeads>;

const ROWS_AT_ONCE = 500;

/** Imports leads in batches, each one commit; after a crash the same file imports the rest. */
export function createLeadImporter(deps: LeadDeps): ImportHandler {
  return async ({ input: { file }, caller }) => {
    const { account_id } = requireUser(caller);
    const { fields, rows } = await readLeadFile(file.bytes);
    const declared = await findDeclaredFields(deps.db, account_id, fields);
    const total: Imported = { created: 0, updated: 0, unchanged: 0, invalid: [], invalid_count: 0 };
    let piece: (ParsedLead | RejectedRow)[] = [];
    for await (const row of rows(declared, deps.defaultCountry)) {
      piece.push(row);
      if (piece.length < ROWS_AT_ONCE) continue;
      await importPiece(deps, account_id, piece, total);
      piece = [];
    }
    await importPiece(deps, account_id, piece, total);
    return total;
  };
}

async function importPiece(
  deps: LeadDeps,
  account_id: number,
  piece: readonly (ParsedLead | RejectedRow)[],
  total: Imported,
): Promise<void> {
  const leads = piece.filter((row): row is ParsedLead => !("reason" in row));
  const done = await deps.db.transaction().execute((trx) => writeLeads(trx, deps, account_id, leads));
  const optedOut = done.opted_out.map((phone) => ({ account_id, phone }));
  // After the commit, so that a transaction that withdraws sends while it holds messages never waits for the
  // leads.
  if (optedOut.length > 0) await deps.db.transaction().execute((trx) => withdrawSendsTo(trx, optedOut));
  const refused = [...piece.filter((row) => "reason" in row), ...done.refused];
  total.created += done.created;
  total.updated += done.updated;
  total.unchanged += leads.length - done.created - done.updated - done.refused.length;
  total.invalid_count += refused.length;
  total.invalid.push(
    ...refused.toSorted((a, b) => a.line - b.line).slice(0, MAX_INVALID - total.invalid.length),
  );
}

interface WrittenLeads {
  created: number;
  updated: number;
  refused: RejectedRow[];
  /** Phones of people who had not opted out before. */
  opted_out: string[];
}

async function writeLeads(
  trx: Trx,
  deps: LeadDeps,
  account_id: number,
  rows: readonly ParsedLead[],
): Promise<WrittenLeads> {
  const leads = await readLids(trx, account_id, rows);
  const count = () => countLeads(trx, account_id);
  // Locks the account's row, so two imports of one account run sequentially.
  const quota = await readPlanQuota(trx, { account_id, limit: "max_leads", count });
  const known = await findKnown(trx, account_id, leads);
  const written: WrittenLeads = { created: 0, updated: 0, refused: [], opted_out: [] };
  for (const row of leads) {
    const lead = known(row);
    if (lead) await changeLead(trx, lead, row, written);
    else if (row.phone === undefined) written.refused.push(rejectRow(row, `id: there is no lead ${row.id}`));
    else if (quota.used + written.created >= quota.most)
      written.refused.push(rejectRow(row, quotaExceededMessage("max_leads", quota.most)));
    else await addLead(trx, deps, account_id, { ...row, phone: row.phone }, written);
  }
  const optedOut = written.opted_out.map((phone) => ({ account_id, phone }));
  await deps.suppression.add(trx, optedOut, "panel");
  return written;
}

/** Resolves digits of a LID whose phone is known to that phone. */
async function readLids(trx: Trx, accountId: number, rows: readonly ParsedLead[]): Promise<ParsedLead[]> {
  const mappings = await findLidMappings(
    trx,
    accountId,
    rows.flatMap(({ phone }) => phone ?? []),
  );
  return rows.map((row) => ({ ...row, phone: mappings.get(row.phone ?? "")?.phone ?? row.phone }));
}

/** Finds the lead of each row, and locks all of them. */
async function findKnown(trx: Trx, account_id: number, leads: readonly ParsedLead[]) {
  const persons = leads.flatMap(({ phone }) => (phone === undefined ? [] : [canonicalNumberOf(phone)]));
  const ids = leads.flatMap(({ id, phone }) => (id === undefined || phone !== undefined ? [] : [id]));
  const { rows } = await sql<LeadRow>`
    select * from lead where account_id = ${account_id}
      and (phone is not null and canonical_number(phone) = any(${persons}::text[]) or id = any(${ids}::bigint[]))
    order by id for update`.execute(trx);
  const byPerson = new Map(
    rows.flatMap((row) => (row.phone === null ? [] : [[canonicalNumberOf(row.phone), row]])),
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ({ id, phone }: ParsedLead) =>
    phone === undefined ? byId.get(id ?? 0) : byPerson.get(canonicalNumberOf(phone));
}

async function addLead(
  trx: Trx,
  { suppression }: LeadDeps,
  account_id: number,
  row: ParsedLead & { phone: string },
  written: WrittenLeads,
): Promise<void> {
  const { phone, name, email, status, kanban_status, custom_fields, opted_out } = row;
  const suppressed = await suppression.findListed(trx, account_id, [phone]);
  const added = await trx
    .insertInto("lead")
    .values({
      account_id,
      phone,
      name,
      email,
      status,
      kanban_status,
      tags: [...new Set(row.tags)],
      custom_fields: JSON.stringify(custom_fields),
      opted_out_at: opted_out || suppressed.size > 0 ? sql<Date>`now()` : null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  if (!added) {
    written.refused.push(
      rejectRow(row, "phone: another request has just created this lead. Import the row again"),
    );
    return;
  }
  written.created += 1;
  if (opted_out) written.opted_out.push(phone);
}

async function changeLead(trx: Trx, lead: LeadRow, row: ParsedLead, written: WrittenLeads): Promise<void> {
  const change = toChange(lead, row);
  const reason = reasonAgainst(lead, change);
  if (reason !== undefined) {
    written.refused.push(rejectRow(row, reason));
    return;
  }
  const { opts_out, custom_fields, ...after } = change;
  if (!opts_out && isDeepStrictEqual({ ...lead, ...after, custom_fields }, lead)) return;
  await trx
    .updateTable("lead")
    .set({
      ...after,
      custom_fields: JSON.stringify(custom_fields),
      ...(opts_out && { opted_out_at: sql<Date>`now()` }),
      updated_at: sql<Date>`now()`,
    })
    .where("id", "=", lead.id)
    .execute();
  written.updated += 1;
  if (opts_out && lead.phone !== null) written.opted_out.push(lead.phone);
}

/**
 * The change that the row makes to the lead; a custom field stays as it is if its exported form is the same.
 */
function toChange(lead: LeadRow, row: ParsedLead) {
  const fields = new Map(Object.entries(lead.custom_fields));
  for (const [name, value] of Object.entries(row.custom_fields))
    if (String(fields.get(name)) !== String(value)) fields.set(name, value);
  return {
    name: row.name ?? lead.name,
    email: row.email ?? lead.email,
    status: row.status ?? lead.status,
    kanban_status: row.kanban_status ?? lead.kanban_status,
    tags: [...new Set([...lead.tags, ...row.tags])],
    custom_fields: Object.fromEntries(fields),
    opts_out: row.opted_out && lead.opted_out_at === null,
  };
}

function reasonAgainst(
  { phone }: LeadRow,
  { tags, custom_fields, opts_out }: ReturnType<typeof toChange>,
): string | undefined {
  if (tags.length > MAX_TAGS) return `tags: a lead has ${MAX_TAGS} tags at most`;
  if (Object.keys(custom_fields).length > MAX_FIELDS)
    return `custom_fields: a lead holds ${MAX_FIELDS} fields at most`;
  return opts_out && phone === null ? "opted_out: needs a lead with a phone" : undefined;
}
