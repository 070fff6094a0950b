import { setImmediate as turn } from "node:timers/promises";
import { sql } from "kysely";
import { requireUser } from "../../../core/accounts/accounts.ts";
import {
  canonicalNumberOf,
  type FindCountry,
  findLidMappings,
  isAmongReached,
  type ListedNumberOptions,
  refusalOfLid,
} from "../../../core/contacts/contacts.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { invalidField } from "../../../platform/gateway-error.ts";
import type { Handlers } from "../../../platform/http/handler.ts";
import type { OutputOf } from "../../../platform/http/route.ts";
import {
  findStoredResponse,
  replayedResponse,
  runIdempotently,
} from "../../../platform/http/run-idempotently.ts";
import { valueIssue } from "../../../platform/issue-codes.ts";
import { type Reach, wholeAccount } from "../../../platform/reach.ts";
import type { SecretBox } from "../../../platform/secrets/secret-box.ts";
import type { SuppressionList } from "../../consent/consent.ts";
import {
  type CampaignRow,
  ENDED_STATUSES,
  getCampaign,
  idempotentRequestOf,
  lockCampaign,
  throwInvalidState,
} from "../campaign-row.ts";
import { type campaignsContract, MAX_LISTED } from "../contract.ts";
import {
  type InvalidRecipient,
  NO_PHONE,
  type ParsedRecipient,
  readRecipient,
  readRecipientCsv,
  refuse,
  toInvalid,
  type UnconfirmedRecipient,
} from "./read-recipient.ts";

export interface AddRecipientsDeps {
  db: Db;
  engine: Engine;
  box: SecretBox;
  suppression: SuppressionList;
  findCountry: FindCountry;
}

type AddHandler = Handlers<typeof campaignsContract>["addRecipients"];
type RecipientInput = Parameters<AddHandler>[0]["input"];
type Added = OutputOf<typeof campaignsContract.addRecipients>;
type ValidRecipient = Extract<ParsedRecipient, { phone: string }>;

const AT_ONCE = 1_000;

/** Adds recipients in batches, so that neither memory nor lock time grows with their number. */
export function createRecipientAdder(deps: AddRecipientsDeps): AddHandler {
  return async ({ input, caller, idempotencyKey }) => {
    const { db, box } = deps;
    const user = requireUser(caller);
    const campaign = await getCampaign(db, user, input.id);
    const { account_id } = campaign;
    const once = idempotentRequestOf("campaigns/recipients", user, input, idempotencyKey);
    const earlier = once && (await findStoredResponse(db, box, once));
    if (earlier) return replayedResponse(earlier.response as Added);
    requireOpen(campaign);
    requireSome(input);
    const count = new Count();
    const country = await deps.findCountry({ instance_id: campaign.instance_id });
    const options = { country, isConfirmed: input.confirm_assumed ?? false };
    for await (const some of readRecipients(db, user, input, options)) {
      const added = count.sort(await readLids(db, account_id, some));
      if (added.length > 0) count.record(added, await insert(deps, campaign, added));
      // Lets other work run between two batches.
      await turn();
    }
    // A request repeated after a crash adds the rest: no recipient is in a campaign twice.
    return runIdempotently(deps, once, async (trx) => ({
      ...count.summary(),
      assumed_country: country?.code ?? null,
      total: await countAll(trx, campaign.id),
    }));
  };
}

/** Throws for a body without recipients: a misspelt field would add no recipient and look like success. */
function requireSome({ recipients, numbers, lead_ids, tags, file }: RecipientInput): void {
  if (recipients ?? numbers ?? lead_ids ?? tags ?? file) return;
  throw invalidField("recipients", "is required: recipients, numbers, lead_ids, tags or a file", "missing");
}

function requireOpen(campaign: CampaignRow): void {
  if (ENDED_STATUSES.includes(campaign.status)) throwInvalidState(campaign, "given recipients");
}

/** Counts the results of a request's recipients. */
class Count {
  readonly #seen = new Set<string>();
  readonly #invalid: InvalidRecipient[] = [];
  #invalidCount = 0;
  readonly #warnings: Added["warnings"] = [];
  #warningCount = 0;
  #inserted = 0;
  #duplicates = 0;
  #skipped = 0;

  /** The recipients that can be inserted. */
  sort(some: readonly ParsedRecipient[]): ValidRecipient[] {
    return some.filter((one): one is ValidRecipient => {
      if ("reason" in one) {
        this.#invalidCount += 1;
        if (this.#invalid.length < MAX_LISTED) this.#invalid.push(one);
        return false;
      }
      if ("warning" in one) {
        this.#warningCount += 1;
        if (this.#warnings.length < MAX_LISTED) this.#warnings.push(toWarning(one));
        return false;
      }
      const person = canonicalNumberOf(one.phone);
      const isNew = !this.#seen.has(person);
      if (!isNew) this.#duplicates += 1;
      this.#seen.add(person);
      return isNew;
    });
  }

  record(
    batch: readonly ValidRecipient[],
    { inserted, skipped }: { inserted: number; skipped: number },
  ): void {
    this.#inserted += inserted;
    this.#skipped += skipped;
    this.#duplicates += batch.length - inserted;
  }

  summary() {
    return {
      inserted: this.#inserted,
      duplicates: this.#duplicates,
      skipped: this.#skipped,
      invalid: this.#invalid,
      invalid_count: this.#invalidCount,
      warnings: this.#warnings,
      warning_count: this.#warningCount,
    };
  }
}

function toWarning({ line, value, warning }: UnconfirmedRecipient): Added["warnings"][number] {
  const { code, params, issue, suggestion } = warning;
  return { line, value, code, params, issue, suggestion };
}

/** The recipients of a request in its order, in batches. */
export async function* readRecipients(
  db: Db,
  reach: Reach,
  { recipients = [], numbers = [], lead_ids, tags, file }: Omit<RecipientInput, "id">,
  options: ListedNumberOptions,
): AsyncGenerator<ParsedRecipient[]> {
  const list = [...recipients, ...numbers];
  for (let at = 0; at < list.length; at += AT_ONCE) {
    yield list.slice(at, at + AT_ONCE).map((one, nth) => readRecipient(one, at + nth + 1, options));
  }
  if (file) yield* readRecipientCsv(file.bytes, options);
  if (lead_ids) yield* readLeads(db, reach, lead_ids);
  if (tags) yield* readTagged(db, reach, tags);
}

async function* readLeads(db: Db, reach: Reach, ids: readonly number[]): AsyncGenerator<ParsedRecipient[]> {
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE);
    const rows = await selectLeads(db, reach).where("id", "in", some).execute();
    const byId = new Map(rows.map((row) => [row.id, row]));
    yield some.map((id) => {
      const found = byId.get(id);
      return found
        ? toRecipient(found)
        : refuse(`lead ${id}`, valueIssue("there is no such lead", "not_found"));
    });
  }
}

async function* readTagged(db: Db, reach: Reach, tags: readonly string[]): AsyncGenerator<ParsedRecipient[]> {
  for (let after = 0; ; ) {
    const rows = await selectLeads(db, reach)
      .where(sql<boolean>`tags && ${tags}::text[]`)
      .where("id", ">", after)
      .orderBy("id")
      .limit(AT_ONCE)
      .execute();
    yield rows.map(toRecipient);
    after = rows.at(-1)?.id ?? 0;
    if (rows.length < AT_ONCE) return;
  }
}

function selectLeads(db: Db, reach: Reach) {
  return db
    .selectFrom("lead")
    .select(["id", "phone"])
    .where("account_id", "=", reach.account_id)
    .where(isAmongReached(reach, { phone: sql.ref("lead.phone"), lid: sql.ref("lead.lid") }));
}

function toRecipient({ id, phone }: { id: number; phone: string | null }): ParsedRecipient {
  return phone === null ? refuse(`lead ${id}`, NO_PHONE) : { phone, variables: {} };
}

/** Resolves digits of a LID whose phone is known to that phone, and refuses those that nobody has. */
export async function readLids(
  db: Db,
  accountId: number,
  some: readonly ParsedRecipient[],
): Promise<readonly ParsedRecipient[]> {
  const numbers = some.flatMap((one) => ("phone" in one ? [one.phone] : []));
  const mappings = await findLidMappings(db, accountId, numbers);
  return some.map((one) => {
    if (!("phone" in one)) return one;
    const refusal = refusalOfLid(one.phone, mappings);
    if (refusal) return toInvalid(one.phone, refusal, one.line);
    return { ...one, phone: mappings.get(one.phone)?.phone ?? one.phone };
  });
}

/** A recipient who is in the campaign already, in any format, is not replaced. */
async function insert(
  { db, engine, suppression }: AddRecipientsDeps,
  campaign: CampaignRow,
  added: readonly ValidRecipient[],
): Promise<{ inserted: number; skipped: number }> {
  const { id, account_id } = campaign;
  const suppressed = await suppression.findListed(
    db,
    account_id,
    added.map(({ phone }) => phone),
  );
  const input = added.map(({ phone, variables }) => ({
    phone,
    variables,
    opted_out: suppressed.has(phone),
  }));
  const { rows, lane } = await db.transaction().execute(async (trx) => {
    const locked = await lockCampaign(trx, wholeAccount(account_id), id);
    requireOpen(locked);
    const inserted = await sql<{ is_skipped: boolean }>`
      insert into campaign_recipient (account_id, campaign_id, phone, variables, status, reason, decided_at)
      select ${account_id}, ${id}, phone, variables, case when opted_out then 'skipped' else 'pending' end,
        case when opted_out then 'opted_out' end, case when opted_out then now() end
      from rows from (jsonb_to_recordset(${JSON.stringify(input)}::jsonb)
        as (phone text, variables jsonb, opted_out boolean)) with ordinality as x (phone, variables, opted_out, ord)
      where not exists (select from campaign_recipient r
        where r.campaign_id = ${id} and canonical_number(r.phone) = canonical_number(x.phone))
      order by ord
      on conflict (campaign_id, phone) do nothing
      returning status = 'skipped' as is_skipped`.execute(trx);
    return { rows: inserted.rows, lane: locked.lane };
  });
  if (lane !== null) engine.wake([lane]);
  return { inserted: rows.length, skipped: rows.filter(({ is_skipped }) => is_skipped).length };
}

async function countAll(db: Trx, id: number): Promise<number> {
  const { count } = await db
    .selectFrom("campaign_recipient")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("campaign_id", "=", id)
    .executeTakeFirstOrThrow();
  return count;
}
