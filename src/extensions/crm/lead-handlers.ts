import { sql } from "kysely";
import { lockAccount, requireUser } from "../../core/accounts/accounts.ts";
import {
  canonicalNumberOf,
  type FindCountry,
  findLidMappings,
  reachesPerson,
  readPhone,
  refusalOfLid,
} from "../../core/contacts/contacts.ts";
import { requirePlanQuota } from "../../core/plans/plans.ts";
import { type Db, isUniqueViolation, type Trx } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { type Caller, type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { readCursor, readPage } from "../../platform/http/input/pagination.ts";
import { withCountry } from "../../platform/phone/with-country.ts";
import type { Reach } from "../../platform/reach.ts";
import { withdrawSendsTo } from "../campaigns/campaigns.ts";
import { copyConsentToPhone, type SuppressionList } from "../consent/consent.ts";
import { type crmContract, MAX_TAGS } from "./contract.ts";
import { exportLeads } from "./export-leads.ts";
import { findLeads } from "./find-leads.ts";
import { type LeadRow, lockLead } from "./lead-row.ts";
import { type FieldChange, mergeFields, readFieldChange } from "./merge-fields.ts";

export interface LeadDeps {
  db: Db;
  suppression: SuppressionList;
  findCountry: FindCountry;
}

interface LeadContext extends LeadDeps {
  reach: Reach;
}

interface LeadChange {
  phone?: string | null;
  name?: string | null;
  email?: string | null;
  status?: string;
  kanban_status?: string | null;
  tags?: string[];
  custom_fields?: FieldChange;
  opted_out?: boolean;
}

type LeadHandlers = Pick<
  Handlers<typeof crmContract>,
  "listLeads" | "exportLeads" | "createLead" | "updateLead" | "deleteLead" | "addLeadTags" | "setLeadFields"
>;

export function leadHandlers(deps: LeadDeps): LeadHandlers {
  const { db } = deps;
  const contextOf = (caller: Caller): LeadContext => ({ ...deps, reach: requireUser(caller) });
  return {
    async listLeads({ input, caller }) {
      const { rows, pagination } = await readPage(
        input,
        ({ limit, cursor }) => findLeads(db, requireUser(caller), input, readCursor(cursor), limit),
        (row) => row.id,
      );
      return new OkResponse(rows, { beside: { pagination } });
    },

    exportLeads: async ({ input, caller }) => exportLeads(db, requireUser(caller), input),

    async createLead({ input, caller }) {
      return db.transaction().execute((trx) => createLead(trx, contextOf(caller), withPhoneAbroad(input)));
    },

    async updateLead({ input: { id, ...body }, caller }) {
      const change = withPhoneAbroad(body);
      const context = contextOf(caller);
      const { account_id } = context.reach;
      const lead = await db.transaction().execute(async (trx) => {
        // As an import does, which may make a lead of the phone and change this one.
        if (change.phone !== undefined) await lockAccount(trx, account_id);
        const known = await lockLead(trx, context.reach, id);
        requireIdentityAfter(known, change);
        return changeLead(trx, context, known, change);
      });
      // After the commit, so that a transaction that withdraws sends while it holds messages never waits for
      // the lead.
      if (change.opted_out && lead.phone !== null) await withdrawSends(db, { account_id, phone: lead.phone });
      return lead;
    },

    async deleteLead({ input: { id }, caller }) {
      await db.transaction().execute(async (trx) => {
        await lockLead(trx, requireUser(caller), id);
        await trx.deleteFrom("lead").where("id", "=", id).execute();
      });
      return { id };
    },

    async addLeadTags({ input: { id, tags = [], tag }, caller }) {
      const added = [...tags, ...(tag === undefined ? [] : [tag])];
      if (added.length === 0) throw invalidField("tags", "is required: name at least one tag", "missing");
      return db.transaction().execute(async (trx) => {
        const lead = await lockLead(trx, requireUser(caller), id);
        return changeLead(trx, contextOf(caller), lead, { tags: [...lead.tags, ...added] });
      });
    },

    async setLeadFields({ input: { id, ...body }, caller }) {
      const custom_fields = readFieldChange(body);
      return db.transaction().execute(async (trx) => {
        const lead = await lockLead(trx, requireUser(caller), id);
        return changeLead(trx, contextOf(caller), lead, { custom_fields });
      });
    },
  };
}

/** The change with the phone in the country that stands beside it. */
function withPhoneAbroad({
  country_code = "",
  ...change
}: LeadChange & { country_code?: string }): LeadChange {
  return change.phone ? { ...change, phone: withCountry(change.phone, country_code) } : change;
}

/** Withdraws what is queued for a person who has just opted out. */
function withdrawSends(db: Db, person: { account_id: number; phone: string }): Promise<void> {
  return db.transaction().execute((trx) => withdrawSendsTo(trx, [person]));
}

async function createLead(trx: Trx, context: LeadContext, change: LeadChange): Promise<LeadRow> {
  const { suppression, reach } = context;
  const { account_id } = reach;
  requireIdentity(change);
  await requirePlanQuota(trx, { account_id, limit: "max_leads", count: () => countLeads(trx, account_id) });
  const { phone, lid } = await readPerson(trx, context, account_id, change.phone);
  await requireReachedPerson(trx, reach, { phone, lid });
  const name = phone ?? lid;
  const suppressed = await suppression.findListed(trx, account_id, name === null ? [] : [name]);
  const [added] = await trx
    .insertInto("lead")
    .values({
      account_id,
      phone,
      lid,
      custom_fields: "{}",
      opted_out_at: suppressed.size > 0 ? sql<Date>`now()` : null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .execute();
  if (!added) throw phoneInUse();
  const { phone: _, ...rest } = change;
  return changeLead(trx, context, added, rest);
}

/** Throws for a body with misspelt fields, which would create a lead without a person. */
function requireIdentity({ phone, name, email }: LeadChange): void {
  if ([phone, name, email].some((one) => typeof one === "string" && one !== "")) return;
  throw invalidField("phone", "is required: a lead needs a phone, a name or an email", "one_of_required", {
    fields: "phone, name, email",
  });
}

/** Throws for a change that would remove the last identifying field of a lead. */
function requireIdentityAfter(lead: LeadRow, change: LeadChange): void {
  const { phone = lead.phone, name = lead.name, email = lead.email } = change;
  const removesField = [change.phone, change.name, change.email].some((one) => one === null || one === "");
  if (removesField && lead.lid === null) requireIdentity({ phone, name, email });
}

export async function countLeads(trx: Trx, accountId: number): Promise<number> {
  const { count } = await trx
    .selectFrom("lead")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

function phoneInUse(): GatewayError {
  return new GatewayError(
    "CONFLICT",
    "A lead with this phone already exists. Change that lead, or use another phone.",
  );
}

/** The identity of a lead. Digits of a known LID identify that person, by phone if it is known. */
async function readPerson(
  trx: Trx,
  { findCountry }: LeadDeps,
  accountId: number,
  value: string | null | undefined,
): Promise<{ phone: string | null; lid: string | null }> {
  if (typeof value !== "string") return { phone: null, lid: null };
  const country = await findCountry({ account_id: accountId }, [value]);
  const digits = readPhone("phone", value, country);
  const mappings = await findLidMappings(trx, accountId, [digits]);
  const refusal = refusalOfLid(digits, mappings);
  if (refusal) throw refusal;
  const person = mappings.get(digits);
  if (!person) return { phone: digits, lid: null };
  return person.phone === null ? person : { phone: person.phone, lid: null };
}

/** A caller that reaches only some instances can make leads of their contacts only. Throws VALIDATION_ERROR. */
async function requireReachedPerson(
  trx: Trx,
  reach: Reach,
  person: { phone: string | null; lid: string | null },
): Promise<void> {
  if (await reachesPerson(trx, reach, person)) return;
  const rule = "must be that of a contact of one of your instances";
  throw invalidField(
    "phone",
    `${rule}. Write to the person first, or ask an administrator of the account`,
    "not_allowed_here",
  );
}

async function changeLead(trx: Trx, deps: LeadContext, lead: LeadRow, change: LeadChange): Promise<LeadRow> {
  const { opted_out, tags, custom_fields, ...rest } = change;
  const phone = change.phone === undefined ? lead.phone : await readNewPhone(trx, deps, lead, change.phone);
  if (phone !== null && phone !== lead.phone) await claimPhone(trx, lead, phone);
  const now = sql<Date>`now()`;
  const changed = await trx
    .updateTable("lead")
    .set({
      ...rest,
      phone,
      ...(opted_out !== undefined && { opted_out_at: opted_out ? (lead.opted_out_at ?? now) : null }),
      ...(tags && { tags: unique(tags) }),
      ...(custom_fields && {
        custom_fields: JSON.stringify(
          await mergeFields(trx, lead.account_id, lead.custom_fields, custom_fields),
        ),
      }),
      updated_at: now,
    })
    .where("id", "=", lead.id)
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch(throwPhoneConflict);
  // After the lead, as inbound messages and imports do.
  if (opted_out !== undefined) await setOptOut(trx, deps, changed, opted_out);
  return changed;
}

/** An inbound message has just made a lead of the phone. */
function throwPhoneConflict(error: unknown): never {
  throw isUniqueViolation(error) ? phoneInUse() : error;
}

async function readNewPhone(
  trx: Trx,
  deps: LeadContext,
  lead: LeadRow,
  value: string | null,
): Promise<string | null> {
  // Digits that the gateway has returned are whole, also where a person's would be ambiguous.
  if (value === lead.phone) return value;
  const { phone, lid } = await readPerson(trx, deps, lead.account_id, value);
  if (lid !== null && lid !== lead.lid)
    throw invalidField(
      "phone",
      "is a LID whose phone number is not known; send the phone number",
      "unknown_phone",
    );
  if (phone !== lead.phone) await requireReachedPerson(trx, deps.reach, { phone, lid: lead.lid });
  return phone;
}

/** Another format of the lead's current phone is no change. */
async function claimPhone(
  trx: Trx,
  { id, account_id, phone: before }: LeadRow,
  phone: string,
): Promise<void> {
  const other = await trx
    .selectFrom("lead")
    .select("id")
    .where("account_id", "=", account_id)
    .where("id", "<>", id)
    .where("phone", "is not", null)
    .where(sql<boolean>`canonical_number(phone) = ${canonicalNumberOf(phone)}`)
    .executeTakeFirst();
  if (other) throw phoneInUse();
  if (before === null) await copyConsentToPhone(trx, id, phone);
}

async function setOptOut(
  trx: Trx,
  { suppression }: LeadDeps,
  { account_id, phone, lid }: LeadRow,
  optedOut: boolean,
): Promise<void> {
  if (phone === null) throw invalidField("opted_out", "needs a lead with a phone", "unknown_phone");
  if (optedOut) await suppression.add(trx, [{ account_id, phone }], "panel");
  else await suppression.remove(trx, { account_id, phone, lid });
}

function unique(tags: readonly string[]): string[] {
  const all = [...new Set(tags)];
  if (all.length > MAX_TAGS)
    throw invalidField("tags", `a lead can have at most ${MAX_TAGS} tags`, "too_many", { max: MAX_TAGS });
  return all;
}
