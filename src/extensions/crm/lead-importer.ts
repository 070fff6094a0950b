import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { requireUser } from "../../core/accounts/accounts.ts";
import { canonicalNumberOf, findLidMappings, refusalOfLid } from "../../core/contacts/contacts.ts";
import { quotaExceededMessage, readPlanQuota } from "../../core/plans/plans.ts";
import type { Trx } from "../../platform/db/database.ts";
import { runOutsideRequests } from "../../platform/db/request-pool.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import type { OutputOf } from "../../platform/http/route.ts";
import { type ValueIssue, valueIssue } from "../../platform/issue-codes.ts";
import { withdrawSendsTo } from "../campaigns/campaigns.ts";
import { type crmContract, MAX_FIELDS, MAX_INVALID, MAX_TAGS } from "./contract.ts";
import { countLeads, type LeadDeps } from "./lead-handlers.ts";
import type { LeadRow } from "./lead-row.ts";
import { findDeclaredFields } from "./merge-fields.ts";
import {
  type ParsedLead,
  type RejectedRow,
  readLeadFile,
  rejectRefused,
  rejectRow,
  type UnconfirmedRow,
} from "./read-lead-file.ts";

type ImportHandler = Handlers<typeof crmContract>["importLeads"];
type Imported = OutputOf<typeof crmContract.importLeads>;

const ROWS_AT_ONCE = 500;

/** Imports leads in batches, each one commit; after a crash the same file imports the rest. */
export function createLeadImporter(deps: LeadDeps): ImportHandler {
  return async ({ input: { file, confirm_assumed = false }, caller }) => {
    const { account_id } = requireUser(caller);
    const country = await deps.findCountry({ account_id });
    const { fields, ignored, rows } = await readLeadFile(file.bytes, {
      country,
      isConfirmed: confirm_assumed,
    });
    const declared = await findDeclaredFields(deps.db, account_id, fields);
    const total: Imported = {
      created: 0,
      updated: 0,
      unchanged: 0,
      invalid: [],
      invalid_count: 0,
      warnings: [],
      warning_count: 0,
      assumed_country: country?.code ?? null,
      ignored_columns: ignored,
    };
    /** The lines that have already named each person. */
    const seen = new Map<string, number>();
    let piece: (ParsedLead | RejectedRow)[] = [];
    for await (const row of rows(declared)) {
      if ("warning" in row) {
        addWarning(total, row);
        continue;
      }
      piece.push(row);
      if (piece.length < ROWS_AT_ONCE) continue;
      await importPiece({ ...deps, account_id, seen }, piece, total);
      piece = [];
    }
    await importPiece({ ...deps, account_id, seen }, piece, total);
    return total;
  };
}

function addWarning(total: Imported, { line, value, warning }: UnconfirmedRow): void {
  total.warning_count += 1;
  if (total.warnings.length < MAX_INVALID) total.warnings.push({ line, value, ...warning });
}

interface ImportContext extends LeadDeps {
  account_id: number;
  seen: Map<string, number>;
}

async function importPiece(
  context: ImportContext,
  piece: readonly (ParsedLead | RejectedRow)[],
  total: Imported,
): Promise<void> {
  const { db, account_id } = context;
  const leads = piece.filter((row): row is ParsedLead => !("reason" in row));
  const done = await db.transaction().execute((trx) => writeLeads(trx, context, leads));
  const optedOut = done.opted_out.map((phone) => ({ account_id, phone }));
  // After the commit, so that a transaction that withdraws sends while it holds messages never waits for the
  // leads. Also if the client has left by now.
  if (optedOut.length > 0)
    await runOutsideRequests(() => db.transaction().execute((trx) => withdrawSendsTo(trx, optedOut)));
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
  /** Phones of people whom the rows opt out, also of those who were before: an import may have ended too early. */
  opted_out: string[];
}

/**
 * Takes the same number of statements for any number of rows. Locks in one order with inbound messages: new leads by
 * person, known leads by id, the suppression list.
 */
async function writeLeads(
  trx: Trx,
  context: ImportContext,
  rows: readonly ParsedLead[],
): Promise<WrittenLeads> {
  const { account_id, suppression } = context;
  const written: WrittenLeads = { created: 0, updated: 0, refused: [], opted_out: [] };
  const leads = await readLids(trx, account_id, rows, written);
  const { known, unknown } = await sortLeads(trx, context, leads, written);
  const conflicting = await insertLeads(trx, context, unknown, written);
  await changeLeads(trx, account_id, [...known, ...conflicting], written);
  const optedOut = written.opted_out.map((phone) => ({ account_id, phone }));
  if (optedOut.length > 0) await suppression.add(trx, optedOut, "panel");
  return written;
}

/** Resolves digits of a LID whose phone is known to that phone, and refuses those that nobody has. */
async function readLids(
  trx: Trx,
  accountId: number,
  rows: readonly ParsedLead[],
  written: WrittenLeads,
): Promise<ParsedLead[]> {
  const mappings = await findLidMappings(
    trx,
    accountId,
    rows.flatMap(({ phone }) => phone ?? []),
  );
  return rows.flatMap((row) => {
    const refusal = refusalOfLid(row.phone ?? "", mappings);
    if (refusal) written.refused.push(rejectRefused(row, refusal));
    return refusal ? [] : [{ ...row, phone: mappings.get(row.phone ?? "")?.phone ?? row.phone }];
  });
}

type NewLead = ParsedLead & { phone: string };

async function sortLeads(
  trx: Trx,
  { account_id, seen }: ImportContext,
  leads: readonly ParsedLead[],
  written: WrittenLeads,
): Promise<{ known: ParsedLead[]; unknown: NewLead[] }> {
  const count = () => countLeads(trx, account_id);
  // Locks the account's row, so two imports of one account run sequentially.
  const quota = await readPlanQuota(trx, { account_id, limit: "max_leads", count });
  const find = await findLeads(trx, account_id, leads);
  const known: ParsedLead[] = [];
  const unknown: NewLead[] = [];
  for (const row of leads) {
    const { lead, fault } = find(row);
    const { phone } = row;
    const person = lead?.phone ?? phone;
    const key = person === undefined ? `id ${row.id}` : canonicalNumberOf(person);
    const line = seen.get(key);
    seen.set(key, line ?? row.line);
    const refusal = line === undefined ? fault : sameAsLine(line);
    if (refusal) written.refused.push(rejectRow(row, refusal.field, refusal));
    else if (lead || phone === undefined) known.push(row);
    else if (quota.used + unknown.length < quota.most) unknown.push({ ...row, phone });
    else written.refused.push(rejectRow(row, null, aboveQuota(quota.most)));
  }
  return { known, unknown };
}

function sameAsLine(line: number): RowFault {
  return { field: null, ...valueIssue(`names the same lead as line ${line}`, "duplicate_line", { line }) };
}

function aboveQuota(max: number): ValueIssue {
  return valueIssue(quotaExceededMessage("max_leads", max), "above_plan", { max });
}

type RowFault = ValueIssue & { field: string | null };

interface FoundLead {
  lead?: LeadRow | undefined;
  /** Why the row cannot be imported. */
  fault?: RowFault;
}

/** Finds the lead of each row: that with its phone, else that with its id and time of creation. */
async function findLeads(
  trx: Trx,
  account_id: number,
  leads: readonly ParsedLead[],
  lock = sql``,
): Promise<(row: ParsedLead) => FoundLead> {
  const persons = leads.flatMap(({ phone }) => (phone === undefined ? [] : [canonicalNumberOf(phone)]));
  const ids = leads.flatMap(({ id }) => id ?? []);
  const { rows } = await sql<LeadRow>`
    select * from lead where account_id = ${account_id}
      and (phone is not null and canonical_number(phone) = any(${persons}::text[]) or id = any(${ids}::bigint[]))
    order by id ${lock}`.execute(trx);
  const byPerson = new Map(
    rows.flatMap((row) => (row.phone === null ? [] : [[canonicalNumberOf(row.phone), row]])),
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ({ id = 0, created_at, phone }) => {
    const named = byId.get(id);
    const withId = named?.created_at.getTime() === created_at ? named : undefined;
    if (phone === undefined) return withId ? { lead: withId } : { fault: noSuchLead(id) };
    const lead = byPerson.get(canonicalNumberOf(phone));
    if (!lead || !withId || lead === withId) return { lead };
    const issue = `is that of lead ${lead.id}, but id names lead ${id}. Empty one of the two cells`;
    return { fault: { field: "phone", ...valueIssue(issue, "different_addresses", { other: "id" }) } };
  };
}

function noSuchLead(id: number): RowFault {
  return { field: "id", ...valueIssue(`there is no lead ${id} with this created_at`, "not_found", { id }) };
}

/** Returns the leads that another request has created meanwhile. */
async function insertLeads(
  trx: Trx,
  { account_id, suppression }: ImportContext,
  leads: readonly NewLead[],
  written: WrittenLeads,
): Promise<NewLead[]> {
  if (leads.length === 0) return [];
  const phones = leads.map(({ phone }) => phone);
  const suppressed = await suppression.findListed(trx, account_id, phones);
  const input = leads.map((lead) => ({
    ...lead,
    tags: [...new Set(lead.tags)],
    opted_out: lead.opted_out || suppressed.has(lead.phone),
  }));
  // Ids follow the lines of the file.
  const { rows } = await sql<{ phone: string }>`
    with numbered as (
      select nextval(pg_get_serial_sequence('lead', 'id')) as id, x.*
      from jsonb_to_recordset(${JSON.stringify(input)}::jsonb) as x (line integer, phone text, name text, email text,
        status text, kanban_status text, tags text[], custom_fields jsonb, opted_out boolean)
      order by line
    )
    insert into lead (
      id, account_id, phone, name, email, status, kanban_status, tags, custom_fields, opted_out_at)
    overriding system value
    select id, ${account_id}, phone, name, email, coalesce(status, 'new'), kanban_status, tags, custom_fields,
      case when opted_out then now() end
    from numbered order by canonical_number(phone)
    on conflict do nothing
    returning phone`.execute(trx);
  const created = new Set(rows.map(({ phone }) => phone));
  written.created += created.size;
  for (const { phone, opted_out } of leads)
    if (opted_out && created.has(phone)) written.opted_out.push(phone);
  return leads.filter(({ phone }) => !created.has(phone));
}

async function changeLeads(
  trx: Trx,
  account_id: number,
  rows: readonly ParsedLead[],
  written: WrittenLeads,
): Promise<void> {
  if (rows.length === 0) return;
  const find = await findLeads(trx, account_id, rows, sql`for update`);
  const changes = rows.flatMap((row) => {
    const { lead, fault = JUST_DELETED } = find(row);
    const change = lead && toChange(lead, row);
    const refusal = change ? faultOf(lead, change) : fault;
    if (refusal) written.refused.push(rejectRow(row, refusal.field, refusal));
    if (!change || refusal) return [];
    if (row.opted_out && lead.phone !== null) written.opted_out.push(lead.phone);
    return isChanged(lead, change) ? [{ ...change, id: lead.id }] : [];
  });
  await updateLeads(trx, changes);
  written.updated += changes.length;
}

function isChanged(lead: LeadRow, { opts_out, ...after }: ReturnType<typeof toChange>): boolean {
  return opts_out || !isDeepStrictEqual({ ...lead, ...after }, lead);
}

async function updateLeads(trx: Trx, changes: readonly object[]): Promise<void> {
  if (changes.length === 0) return;
  await sql`
    update lead set name = x.name, email = x.email, status = x.status, kanban_status = x.kanban_status,
      tags = x.tags, custom_fields = x.custom_fields,
      opted_out_at = case when x.opts_out then now() else lead.opted_out_at end, updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as x (id bigint, name text, email text,
      status text, kanban_status text, tags text[], custom_fields jsonb, opts_out boolean)
    where lead.id = x.id`.execute(trx);
}

/**
 * The change that the row makes to the lead; a custom field stays as it is if its exported form is the same.
 */
function toChange(lead: LeadRow, row: ParsedLead) {
  const fields = new Map(Object.entries(lead.custom_fields));
  for (const [name, value] of Object.entries(row.custom_fields))
    if (toCellText(fields.get(name)) !== toCellText(value)) fields.set(name, value);
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

/** A value as a cell gives it back: without outer spaces, and with line breaks of one kind. */
function toCellText(value: unknown): string {
  return String(value).replace(/\r\n?/g, "\n").trim();
}

const JUST_DELETED: RowFault = {
  field: "phone",
  ...valueIssue("another request has just deleted this lead. Import the row again", "not_found"),
};

function faultOf(
  { phone }: LeadRow,
  { tags, custom_fields, opts_out }: ReturnType<typeof toChange>,
): RowFault | undefined {
  if (tags.length > MAX_TAGS) {
    const most = valueIssue(`a lead has ${MAX_TAGS} tags at most`, "too_many", { max: MAX_TAGS });
    return { field: "tags", ...most };
  }
  if (Object.keys(custom_fields).length > MAX_FIELDS) {
    const most = valueIssue(`a lead holds ${MAX_FIELDS} fields at most`, "too_many", { max: MAX_FIELDS });
    return { field: "custom_fields", ...most };
  }
  if (!opts_out || phone !== null) return undefined;
  return { field: "opted_out", ...valueIssue("needs a lead with a phone", "unknown_phone") };
}
