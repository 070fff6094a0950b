import { type RawBuilder, sql } from "kysely";
import type { Jid } from "../../network/driver.ts";
import { lidJid, phoneOfJid } from "../../network/jid.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { type GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import type { InputOf } from "../../platform/http/route.ts";
import type { ValueIssue } from "../../platform/issue-codes.ts";
import { SPOILT_PHONE } from "../../platform/phone/fold-phone-text.ts";
import { canonicalNumberOf, searchedNumbers } from "../../platform/phone/number-variants.ts";
import {
  isImpossiblePhone,
  type PhoneCountry,
  readPhoneNumber,
  SHORTEST_LID,
} from "../../platform/phone/read-phone-number.ts";
import type { Reach } from "../../platform/reach.ts";
import { getInstance, type InstanceRow } from "../instances/instances.ts";
import type { RunSessionOperation } from "../session-operations/session-operations.ts";
import { type CheckNumbersDeps, checkNumbers } from "./check-numbers.ts";
import type { contactsContract } from "./contract.ts";
import type { InstanceRef } from "./number-resolver.ts";
import { readContactInfo, saveBlocked, saveBlocklist, saveContactName } from "./read-contact-info.ts";
import { type RecipientInput, readAddress, resolveForInstance } from "./recipient.ts";

interface PersonColumns {
  phone: RawBuilder<unknown>;
  lid?: RawBuilder<unknown>;
}

interface LidMapping {
  lid: string;
  /** Null while no session of the account has received it. */
  phone: string | null;
}

/** How the numbers of a list are read. */
export interface ListedNumberOptions {
  /** Of the numbers without a country code. */
  country?: PhoneCountry;
  /** A person has confirmed what is assumed; otherwise it is only listed as a warning. */
  isConfirmed: boolean;
}

/** What was assumed about a number of a list. */
export interface NumberWarning extends ValueIssue {
  /** The digits that a confirmation takes. */
  suggestion: string;
}

type ListedNumber = { phone: string; warning?: never } | { phone?: never; warning: NumberWarning };

export {
  alternativeNumber,
  canonicalNumberOf,
  numberVariantsOf,
  searchedNumbers,
} from "../../platform/phone/number-variants.ts";
export {
  addressesOf,
  type Conversations,
  createConversations,
  findConversation,
} from "./conversations.ts";
export { createCountryFinder, type FindCountry } from "./find-country.ts";
export { createNumberResolver, type NumberResolver } from "./number-resolver.ts";
export {
  type Recipient,
  type RecipientInput,
  readAddress,
  readPhone,
  resolveForInstance,
  resolveRecipient,
} from "./recipient.ts";
export type { ConversationRef } from "./save-chats.ts";

export type ContactDeps = CheckNumbersDeps;

export function contactHandlers(deps: ContactDeps): Handlers<typeof contactsContract> {
  const { db, runOperation } = deps;
  return {
    async listContacts({ input }) {
      if (input.synchronise) await synchronise(db, runOperation, input.id);
      const { rows, pagination } = await listContacts(db, input);
      return new OkResponse(rows, { beside: { pagination } });
    },

    async checkContacts({ input: { id, ...input } }) {
      const rows = await checkNumbers(deps, await getInstance(db, id), input);
      return new OkResponse(rows, { beside: input.numbers ? {} : { exists: rows[0]?.exists ?? false } });
    },

    async contactInfo({ input: { id, ...target } }) {
      const owner = await getInstance(db, id);
      return readContactInfo(deps, owner, await findPerson(deps, owner, target));
    },

    async saveContact({ input: { id, first_name, last_name = "", ...target } }) {
      const owner = await getInstance(db, id);
      const jid = await findPerson(deps, owner, target);
      requireOtherPerson(owner, jid);
      return saveContactName(deps, owner, jid, { first_name, last_name: last_name || null });
    },

    async subscribePresence({ input: { id, ...target } }) {
      const owner = await getInstance(db, id);
      const named = await resolveForInstance(deps.findCountry, id, target);
      const jid = named.type === "group" ? named.jid : await findPerson(deps, owner, target);
      requireOtherPerson(owner, jid);
      const { expires_at } = await runOperation(id, (session) => session.presence.subscribe(jid));
      return { jid, expires_at };
    },

    async blockContact({ input: { id, action, block, ...target } }) {
      const owner = await getInstance(db, id);
      const operation = action ?? (block === undefined ? undefined : block ? "block" : "unblock");
      if (!operation) throw invalidField("action", "is required: block or unblock", "missing");
      const isBlocked = operation === "block";
      const jid = await findPerson(deps, owner, target);
      requireOtherPerson(owner, jid);
      await runOperation(id, (session) => session.contacts.setBlocked(jid, isBlocked));
      return { ...(await saveBlocked(deps, owner, jid, isBlocked)), action: operation };
    },
  };
}

/** The phone's address book arrives as events of the session. */
async function synchronise(db: Db, runOperation: RunSessionOperation, id: number): Promise<void> {
  await runOperation(id, (session) => session.contacts.synchronise());
  await saveBlocklist(db, id, await runOperation(id, (session) => session.contacts.blocked()));
}

/** The stored address of a person. */
async function findPerson(deps: ContactDeps, owner: InstanceRef, target: RecipientInput): Promise<Jid> {
  const { jid, type } = await resolveForInstance(deps.findCountry, owner.id, target);
  if (type === "group") throw invalidField("jid", "must be the number or JID of a person", "not_a_person");
  return deps.numbers.resolve(owner, await deps.conversations.addressOf(owner.id, jid));
}

/** The network accepts a block of one's own number, but does nothing. */
function requireOtherPerson(me: InstanceRow, jid: Jid): void {
  const phone = phoneOfJid(jid);
  const isOwn =
    phone !== null && me.phone !== null && canonicalNumberOf(phone) === canonicalNumberOf(me.phone);
  if (isOwn || jid === me.lid)
    throw invalidField("number", "is the number of this instance itself", "is_your_own");
}

/** Reads a number of a campaign or an import. Throws VALIDATION_ERROR for text that is no number of a person. */
export function readListedNumber(text: string, { country, isConfirmed }: ListedNumberOptions): ListedNumber {
  if (isErased(text))
    throw invalidField(
      "phone",
      "is of a person whose data were erased, so this row is passed over",
      "erased_person",
    );
  const reading = readPhoneNumber(text, country);
  if (reading.is === "assumed") {
    const { code, params, issue, suggestion } = reading;
    return isConfirmed && !code.startsWith("ambiguous")
      ? { phone: suggestion }
      : { warning: { code, params, issue, suggestion } };
  }
  const { phone } = readAddress("phone", text, country);
  if (phone === null) throw invalidField("phone", "must be a phone number", "not_a_number");
  return { phone };
}

/** Whether a text is what an erasure writes in the place of a phone. */
export function isErased(phone: string): boolean {
  return /^anon-[\da-f]{20}$/.test(phone);
}

/** Whether a cell of a list is a phone; undefined if it may be one, or may have been, or is several. */
export function isListedNumber(text: string, country?: PhoneCountry): boolean | undefined {
  const reading = readPhoneNumber(text, country);
  if (reading.is === "number") return true;
  if (reading.is === "assumed") return reading.code === "ambiguous_number" ? undefined : true;
  return SPOILT_PHONE.test(reading.code) ? undefined : false;
}

/** The people behind digits that are no valid phone but a LID known to the account, by the digits. */
export async function findLidMappings(
  db: Db | Trx,
  accountId: number,
  numbers: readonly string[],
): Promise<Map<string, LidMapping>> {
  const digits = new Map(
    numbers.filter(isImpossiblePhone).map((number) => [lidJid(number) as string, number]),
  );
  if (digits.size === 0) return new Map();
  const rows = await db
    .selectFrom("instance as i")
    .innerJoin("contact as c", "c.instance_id", "i.id")
    .select(["c.lid", "c.phone"])
    .where("i.account_id", "=", accountId)
    .where("c.lid", "in", [...digits.keys()])
    .execute();
  const mappings = new Map<string, LidMapping>();
  for (const { lid, phone } of rows) {
    const number = lid === null ? undefined : digits.get(lid);
    if (lid === null || number === undefined) continue;
    mappings.set(number, { lid, phone: phone ?? mappings.get(number)?.phone ?? null });
  }
  return mappings;
}

/**
 * The refusal of digits that are no phone number, unless the account knows a person with that LID: they may be a number that a
 * spreadsheet has changed.
 */
export function refusalOfLid(
  digits: string,
  mappings: ReadonlyMap<string, LidMapping>,
): GatewayError | undefined {
  if (digits.length < SHORTEST_LID || mappings.has(digits)) return undefined;
  const reading = readPhoneNumber(digits);
  if (reading.is !== "refused") return undefined;
  const { issue, code, params } = reading;
  return invalidField("phone", issue, code, params);
}

/**
 * Whether the person with this phone or LID is within reach: everybody, or a contact of one of the instances. The rows
 * are those of the account.
 */
export function isReachedPerson(
  { account_id, instance_ids }: Reach,
  { phone, lid = sql`null` }: PersonColumns,
): RawBuilder<boolean> {
  if (instance_ids === null) return sql<boolean>`true`;
  const reached = sql`select from contact reached where reached.account_id = ${account_id}
    and reached.instance_id = any(${instance_ids}::bigint[])`;
  // Two conditions, each with an index.
  return sql<boolean>`(exists (${reached} and reached.phone = any(number_variants(${phone})))
    or exists (${reached} and reached.lid = ${lid}))`;
}

/** To read so many takes as long as to look for some thousand people one by one. */
const FEW_CONTACTS = 10_000;

/**
 * As `isReachedPerson`, for a statement that goes through many people. Few contacts are read once: most of the people are then
 * out of reach, and it would look for each of them.
 */
export function isAmongReached(reach: Reach, { phone, lid = sql`null` }: PersonColumns): RawBuilder<boolean> {
  const { account_id, instance_ids } = reach;
  if (instance_ids === null) return sql<boolean>`true`;
  const few = sql`(select phone, lid from contact where account_id = ${account_id}
    and instance_id = any(${instance_ids}::bigint[]) limit ${FEW_CONTACTS + 1}) as few`;
  return sql<boolean>`case when (select count(*) from ${few}) > ${FEW_CONTACTS}
    then ${isReachedPerson(reach, { phone, lid })}
    else ${phone} in (select (number_variants(few.phone))[nth] from ${few}, (values (1), (2)) as format (nth))
      or ${lid} in (select few.lid from ${few} where few.lid is not null) end`;
}

/** As `isReachedPerson`, for one person. */
export async function reachesPerson(
  db: Db | Trx,
  reach: Reach,
  { phone, lid = null }: { phone: string | null; lid?: string | null },
): Promise<boolean> {
  if (reach.instance_ids === null) return true;
  const columns = { phone: sql`${phone}::text`, lid: sql`${lid}::text` };
  const { rows } = await sql`select 1 where ${isReachedPerson(reach, columns)}`.execute(db);
  return rows.length > 0;
}

/** The newest first. */
async function listContacts(db: Db, input: InputOf<typeof contactsContract.listContacts>) {
  const before = readCursor(input.cursor);
  let query = db
    .selectFrom("contact")
    .select(["id", "jid", "lid", "phone", "name", "push_name", "verified_name"])
    .select(["is_business", "picture_url", "is_blocked", "updated_at"])
    .where("instance_id", "=", input.id)
    .orderBy("id", "desc")
    .limit(input.limit + 1);
  if (before !== undefined) query = query.where("id", "<", before);
  if (input.q) query = query.where(isCalled(input.q));
  return toPage(await query.execute(), input.limit, (row) => row.id);
}

function isCalled(q: string): RawBuilder<boolean> {
  const lids = searchedNumbers(q).map(lidJid);
  return sql`(${containsText(q, sql`name, push_name, verified_name, phone`)} or lid = any(${lids}::text[]))`;
}
