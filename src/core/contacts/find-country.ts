import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { numberVariantsOf } from "../../platform/phone/number-variants.ts";
import {
  countryOfPhone,
  dependsOnCountry,
  type PhoneCountry,
  readPhoneNumber,
} from "../../platform/phone/read-phone-number.ts";

/** Who has written the numbers. */
export type CountryOwner = { instance_id: number } | { account_id: number };

/**
 * The country of numbers without a country code: a setting of the instance, the account or the gateway, or a guess from
 * the linked phones. With `texts`, only looked up if one of them depends on it.
 */
export type FindCountry = (
  owner: CountryOwner,
  texts?: readonly (string | undefined)[],
) => Promise<PhoneCountry | undefined>;

/** Phones of an account that the guess reads. */
const MOST_PHONES = 20;

export function createCountryFinder(db: Db, ofGateway: string | undefined): FindCountry {
  return async (owner, texts) => {
    if (texts && !texts.some((text) => text !== undefined && dependsOnCountry(text))) return undefined;
    const { rows } = await ("instance_id" in owner
      ? selectOfInstance(db, owner.instance_id)
      : selectOfAccount(db, owner.account_id));
    const code = rows[0]?.country ?? ofGateway;
    if (code) return withKnown(db, { code, isSet: true }, owner, texts);
    const guess = mostFrequent((rows[0]?.phones ?? []).flatMap((phone) => countryOfPhone(phone) ?? []));
    return guess === undefined ? undefined : { code: guess, isSet: false };
  };
}

/** The country, with the digits of `texts` that are the phone of a contact of the instance, unless the other reading is one too. */
async function withKnown(
  db: Db,
  country: PhoneCountry,
  owner: CountryOwner,
  texts: readonly (string | undefined)[] = [],
): Promise<PhoneCountry> {
  if (!("instance_id" in owner)) return country;
  const unclear = texts.flatMap((text = "") => {
    const reading = readPhoneNumber(text, country);
    if (reading.is !== "assumed" || reading.code !== "ambiguous_country") return [];
    return { digits: text.trim(), others: numberVariantsOf(reading.suggestion) };
  });
  if (unclear.length === 0) return country;
  const numbers = unclear.flatMap(({ digits, others }) => [digits, ...others]);
  const { rows } = await sql<{ phone: string }>`
    select c.phone from instance i join contact c on c.account_id = i.account_id and c.instance_id = i.id
    where i.id = ${owner.instance_id} and c.phone = any(${numbers}::text[])`.execute(db);
  const phones = new Set(rows.map(({ phone }) => phone));
  const whole = unclear.filter(
    ({ digits, others }) => phones.has(digits) && !others.some((other) => phones.has(other)),
  );
  return { ...country, known: new Set(whole.map(({ digits }) => digits)) };
}

interface CountryRow {
  country: string | null;
  phones: string[] | null;
}

function selectOfInstance(db: Db, id: number) {
  return sql<CountryRow>`
    select coalesce(i.settings ->> 'default_country', a.settings ->> 'default_country') as country,
      array_remove(array[i.phone], null) as phones
    from instance i join account a on a.id = i.account_id where i.id = ${id}`.execute(db);
}

function selectOfAccount(db: Db, id: number) {
  return sql<CountryRow>`
    select a.settings ->> 'default_country' as country, array(select i.phone from instance i
      where i.account_id = a.id and i.phone is not null and i.removed_at is null
      order by i.id limit ${MOST_PHONES}) as phones
    from account a where a.id = ${id}`.execute(db);
}

function mostFrequent(countries: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const country of countries) counts.set(country, (counts.get(country) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}
