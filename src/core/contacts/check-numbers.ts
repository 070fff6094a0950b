import type { Jid } from "../../network/driver.ts";
import { isGroupJid, lidJid, phoneOfJid } from "../../network/jid.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError, invalidField, reasonOf } from "../../platform/gateway-error.ts";
import { alternativeNumber } from "../../platform/phone/number-variants.ts";
import { isImpossiblePhone, type PhoneCountry } from "../../platform/phone/read-phone-number.ts";
import type { RunSessionOperation } from "../session-operations/session-operations.ts";
import type { Conversations } from "./conversations.ts";
import type { FindCountry } from "./find-country.ts";
import type { CachedNumber, InstanceRef, NumberResolver } from "./number-resolver.ts";
import { type Recipient, readAddress } from "./recipient.ts";

export interface CheckNumbersDeps {
  db: Db;
  conversations: Conversations;
  numbers: NumberResolver;
  runOperation: RunSessionOperation;
  findCountry: FindCountry;
}

export interface CheckNumbersInput {
  numbers?: string[];
  number?: string;
  refresh: boolean;
}

/** One row per query, in order. The network is asked only for uncached numbers, in one query. */
export async function checkNumbers(deps: CheckNumbersDeps, instance: InstanceRef, input: CheckNumbersInput) {
  const queries = input.numbers ?? (input.number === undefined ? [] : [input.number]);
  if (queries.length === 0) throw invalidField("numbers", "is required: numbers[] or number", "missing");
  const country = await deps.findCountry({ instance_id: instance.id }, queries);
  const requested = await Promise.all(
    queries.map(async (query): Promise<Requested> => {
      const read = readQuery(query, country);
      return read instanceof GatewayError
        ? { query, refusal: read }
        : { query, who: await findKnownLid(deps, instance, read) };
    }),
  );
  if (!input.numbers && requested[0]?.refusal) throw requested[0].refusal;
  const numbers = [...new Set(requested.flatMap(({ who }) => variants(who)))];
  const checks = await checkUncached(deps, instance, numbers, input.refresh);
  return Promise.all(requested.map((one) => toRow(deps, instance, one, checks)));
}

interface Requested {
  query: string;
  who?: Recipient;
  /** Why the query names no person. */
  refusal?: GatewayError;
}

function readQuery(query: string, country: PhoneCountry | undefined): Recipient | GatewayError {
  try {
    const who = readAddress("number", query, country);
    return isGroupJid(who.jid)
      ? invalidField("number", "is a group, and only people can be checked", "not_a_person")
      : who;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

/** Digits that are no valid phone identify the person with that LID, if it is known. */
async function findKnownLid(
  { conversations }: CheckNumbersDeps,
  { id }: InstanceRef,
  who: Recipient,
): Promise<Recipient> {
  if (!who.phone || !isImpossiblePhone(who.phone)) return who;
  const identity = { jid: lidJid(who.phone), lid: null, phone: null, push_name: null };
  const { jid, lid, phone } = await conversations.identify(id, identity);
  return lid === null ? who : { jid, lid, phone, type: "contact" };
}

function variants(who: Recipient | undefined): string[] {
  if (!who?.phone) return [];
  const other = alternativeNumber(who.phone);
  return other === undefined ? [who.phone] : [who.phone, other];
}

async function checkUncached(
  { numbers, runOperation }: CheckNumbersDeps,
  instance: InstanceRef,
  requested: string[],
  refresh: boolean,
): Promise<Map<string, CachedNumber>> {
  const known = refresh ? new Map<string, CachedNumber>() : await numbers.findCached(instance.id, requested);
  const open = requested.filter((number) => !known.has(number));
  if (open.length === 0) return known;
  const checked = await runOperation(instance.id, (session) => session.contacts.check(open));
  await numbers.cache(instance, checked);
  const checked_at = new Date();
  return new Map([...known, ...checked.map((one) => [one.number, { ...one, checked_at }] as const)]);
}

async function toRow(
  { conversations }: CheckNumbersDeps,
  instance: InstanceRef,
  { query, who, refusal }: Requested,
  checks: Map<string, CachedNumber>,
) {
  const found = variants(who)
    .map((number) => checks.get(number))
    .find((one) => one?.jid);
  // The network assigns LIDs, so a person with a LID is registered.
  const jid = found?.jid ?? who?.lid;
  const first = variants(who).map((number) => checks.get(number))[0];
  const about = {
    ...(refusal && { reason: refusal.message.replace(/^number: /, ""), ...reasonOf(refusal) }),
    verified_name: found?.verified_name ?? null,
    checked_at: (found ?? first)?.checked_at ?? null,
  };
  if (!jid)
    return { query, exists: false, is_in_whatsapp: false, jid: null, lid: null, phone: null, ...about };
  const person = await identify(conversations, instance, jid, found?.lid ?? who?.lid ?? null);
  return { query, exists: true, is_in_whatsapp: true, ...person, ...about };
}

async function identify(conversations: Conversations, { id }: InstanceRef, jid: Jid, lid: Jid | null) {
  const identity = { jid, lid, phone: phoneOfJid(jid), push_name: null };
  const { push_name: _, ...person } = await conversations.identify(id, identity);
  return person;
}
