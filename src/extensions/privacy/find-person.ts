import { type RawBuilder, sql } from "kysely";
import { declarationOf, declaredTables, type TableName } from "../../core/declared-tables.ts";
import { type ErasedPerson, isAddressOf, wordsOf } from "../../core/personal-data/personal-data.ts";
import { lidJid, phoneJid, phoneOfJid } from "../../network/jid.ts";
import type { Trx } from "../../platform/db/database.ts";
import { numberVariantsOf } from "../../platform/phone/number-variants.ts";
import { isImpossiblePhone } from "../../platform/phone/read-phone-number.ts";

type Condition = RawBuilder<boolean>;

const IDENTITY = ["jid", "lid", "phone"] as const;

/** Whether a JSON object with `jid`, `lid` and `phone` names the person. */
export function isIdentityOf(value: RawBuilder<unknown>, person: ErasedPerson): Condition {
  const fields = IDENTITY.map((name) => isAddressOf(sql`${value} ->> ${sql.lit(name)}`, person));
  return sql`coalesce(${sql.join(fields, sql` or `)}, false)`;
}

/** For a message `m`: it is in the person's chat, or the person has written it in a group. */
export function isMessageOf(person: ErasedPerson): Condition {
  return sql`(${isAddressOf(sql`m.jid`, person)} or not m.from_me and ${isIdentityOf(sql`m.sender`, person)})`;
}

/** Where an event names the person whom it is about. */
const NAMED_IN_EVENTS = ["{message,sender}", "{sender}", "{by}", "{participant}", "{from}"];

/** For an event `e`: it is of the person's chat, by the person, or about one of the person's messages. */
export function isEventOf(person: ErasedPerson): Condition {
  const named = NAMED_IN_EVENTS.map((path) => isIdentityOf(sql`d #> ${sql.lit(path)}`, person));
  return sql`(${isAddressOf(sql`e.chat`, person)} or exists (
    select from (select convert_from(e.body, 'UTF8')::json -> 'data' as d) b
    where ${sql.join(named, sql` or `)} or exists (
      select from message m where m.instance_id = e.instance_id
        and m.message_id = coalesce(d ->> 'message_id', d #>> '{message,message_id}')
        and (m.content ? 'anonymized_at' or ${isMessageOf(person)}))))`;
}

/** Ids by table: rows from which a restored backup knows the person again. Of a group, the person was a member. */
export type RowsOfPerson = Partial<Record<TableName, readonly number[]>>;

/** A few are enough to know the addresses again. */
const MOST_NAMED = 20;

/** Rows from which a restored backup knows the person again, apart from messages in groups. */
export async function findRowsOfPerson(
  trx: Trx,
  account_id: number,
  person: ErasedPerson,
): Promise<RowsOfPerson> {
  const found: RowsOfPerson = {};
  for (const [table, { knownBy, ofPerson }] of declaredTables()) {
    if (!knownBy || !ofPerson) continue;
    const { rows } = await sql<{ id: number }>`
      select id from ${sql.table(table)} where account_id = ${account_id} and ${ofPerson(person)}
      order by id limit ${MOST_NAMED}`.execute(trx);
    if (rows.length > 0) found[table] = rows.map(({ id }) => id);
  }
  return found;
}

interface ErasureEntry {
  account_id: number;
  scope: string;
  request: number;
  until: Readonly<Record<string, number>>;
  /** Of one person. */
  rows?: RowsOfPerson | undefined;
}

/** Adds an entry by which a restored backup repeats the erasure; one request may have several. It has ids only. */
export async function logErasure(trx: Trx, entry: ErasureEntry): Promise<void> {
  const { account_id, scope, request, until, rows } = entry;
  const subject = JSON.stringify({ request, until, rows });
  await trx.insertInto("erasure_log").values({ account_id, scope, subject }).execute();
}

/** Some of the messages that the person has written in groups. */
export async function findGroupMessages(
  trx: Trx,
  person: ErasedPerson,
  messages: readonly number[],
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from message m where id = any(${messages}::bigint[]) and not from_me and jid like '%@g.us'
      and ${isIdentityOf(sql`m.sender`, person)} order by id limit ${MOST_NAMED}`.execute(trx);
  return rows.map(({ id }) => id);
}

/** Of a message in a group, whose conversation is not the person's. */
const WRITERS = IDENTITY.map((name) => sql<string>`sender ->> ${sql.lit(name)}`);

/** The person behind rows that a restore has brought back; without addresses once they are anonymised. */
export async function findPersonByRows(
  trx: Trx,
  account_id: number,
  named: RowsOfPerson,
): Promise<ErasedPerson> {
  const addresses: string[] = [];
  for (const [table, { knownBy }] of declaredTables()) {
    const ids = named[table];
    const values = table === "message" ? WRITERS : wordsOf(knownBy).map((column) => sql.ref<string>(column));
    if (!ids || values.length === 0) continue;
    const { rows } = await sql<{ address: string | null }>`
      select unnest(array[${sql.join(values)}]) as address from ${sql.table(table)}
      where account_id = ${account_id} and id = any(${ids}::bigint[])`.execute(trx);
    addresses.push(...rows.flatMap(({ address }) => address ?? []));
  }
  return findPerson(trx, account_id, { addresses, leads: named.lead ?? [] });
}

/**
 * The person with every address that the account knows for the given ones: of a phone its LIDs, of a LID its phones. No
 * further, since a number that was given to somebody else has the LIDs of two people.
 */
export async function findPerson(
  trx: Trx,
  account_id: number,
  { addresses: given, leads }: ErasedPerson,
): Promise<ErasedPerson> {
  const seed = { addresses: unique(given.flatMap(formsOf)), leads };
  const addressesIn = (table: TableName, columns: string) => sql`
    select unnest(array[${sql.join(wordsOf(columns).map((column) => sql.ref(column)))}]) as address
    from ${sql.table(table)} where account_id = ${account_id} and ${isRowOf(table, seed)}`;
  const { rows } = await sql<{ address: string | null }>`
    ${addressesIn("contact", "jid lid phone")} union ${addressesIn("number_check", "number jid lid")}
    union ${addressesIn("lead", "phone lid")}`.execute(trx);
  const known = rows.flatMap(({ address }) => (address === null ? [] : formsOf(address)));
  const person = { addresses: unique([...seed.addresses, ...known]), leads };
  const { rows: found } = await sql<{ id: number }>`
    select id from lead where account_id = ${account_id} and ${isRowOf("lead", person)}`.execute(trx);
  return { ...person, leads: found.map(({ id }) => id) };
}

function isRowOf(table: TableName, person: ErasedPerson): Condition {
  return declarationOf(table).ofPerson?.(person) ?? sql`false`;
}

/**
 * Every form in which a table may have the address, none of a pseudonym. The digits of a LID count only where they are no
 * phone.
 */
function formsOf(address: string): string[] {
  if (address.startsWith("anon-")) return [];
  const digits = address.split("@", 1)[0] ?? "";
  const isLid = address.endsWith("@lid");
  const phone = phoneOfJid(address) ?? (isLid ? null : digits);
  const asLid = isImpossiblePhone(digits) ? [lidJid(digits), digits] : [];
  if (phone === null) return [address, ...asLid];
  return [...numberVariantsOf(phone).flatMap((one) => [one, phoneJid(one)]), ...asLid];
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
