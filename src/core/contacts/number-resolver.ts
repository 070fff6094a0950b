import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { Jid, Session } from "../../network/driver.ts";
import { lidJid, phoneJid, phoneOfJid } from "../../network/jid.ts";
import type { NumberCheck, OperationResult } from "../../network/session-operations.ts";
import type { Db } from "../../platform/db/database.ts";
import { maxEntries } from "../../platform/limits/max-entries.ts";
import { withTimeout } from "../../platform/limits/with-timeout.ts";
import { alternativeNumber } from "../../platform/phone/number-variants.ts";
import { isImpossiblePhone } from "../../platform/phone/read-phone-number.ts";
import { cleanFromNetwork } from "../../platform/text/clean-text.ts";
import type { Conversations } from "./conversations.ts";

/** The instance whose session is asked, and whose account stores the result. */
export interface InstanceRef {
  id: number;
  account_id: number;
}

/** The network's result for a number, with its time. */
export interface CachedNumber {
  number: string;
  jid: Jid | null;
  lid: Jid | null;
  verified_name: string | null;
  checked_at: Date;
}

export interface NumberResolver {
  /**
   * The address that the network uses for a number with two formats. Asks the network once; while no session
   * is connected the number stays as given. Digits that are no valid phone but a known LID identify that
   * person. Other addresses cost nothing.
   */
  resolve(instance: InstanceRef, jid: Jid): Promise<Jid>;
  /** Whether `resolve` is known to leave this address unchanged, without a query. */
  isResolved(instanceId: number, address: string): boolean;
  /** Like `resolve`, with one query for all of them. */
  resolveAll(instance: InstanceRef, jids: readonly Jid[]): Promise<Jid[]>;
  /** The cached results of numbers. */
  findCached(instanceId: number, numbers: readonly string[]): Promise<Map<string, CachedNumber>>;
  /** Caches the network's results. */
  cache(instance: InstanceRef, checks: NumberCheck[]): Promise<void>;
}

export interface NumberResolverDeps {
  db: Db;
  conversations: Conversations;
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
}

const REMEMBERED = 50_000;
const RESOLVED_MS = 60 * 60_000;
/** The retry interval after a failed query, or without a connected session. */
const OPEN_MS = 30_000;
const TIMEOUT_MS = 4_000;

interface ResolvedNumber {
  jid: Jid;
  /** False if no session was connected. */
  isChecked: boolean;
}

export function createNumberResolver(deps: NumberResolverDeps): NumberResolver {
  const resolved = new LRUCache<string, ResolvedNumber>(maxEntries(REMEMBERED));
  const pendingQueries = new Map<string, Promise<Jid>>();

  function resolve(instance: InstanceRef, jid: Jid): Promise<Jid> {
    const number = phoneOfJid(jid);
    const other = number === null ? undefined : alternativeNumber(number);
    if (number !== null && isImpossiblePhone(number))
      return findLid(deps.conversations, instance.id, jid, number);
    if (number === null || other === undefined) return Promise.resolve(jid);
    const key = `${instance.id} ${number}`;
    const known = resolved.get(key);
    if (known && (known.isChecked || !deps.connectedSession(instance.id))) return Promise.resolve(known.jid);
    const pending =
      pendingQueries.get(key) ?? find(instance, number, other).finally(() => pendingQueries.delete(key));
    pendingQueries.set(key, pending);
    return pending;
  }

  async function find(instance: InstanceRef, number: string, other: string): Promise<Jid> {
    const known = await findRegistered(deps.db, instance.id, [number, other]);
    const remembered = choose(known, number, other);
    const session = remembered ? undefined : deps.connectedSession(instance.id);
    const checks = session?.contacts && (await withoutFailure(session.contacts.check([number, other])));
    if (checks) await remember(deps, instance, checks);
    const found = remembered ?? choose(new Map(checks?.map((one) => [one.number, one])), number, other);
    const jid = found ?? known.get(other)?.jid ?? phoneJid(number);
    resolved.set(
      `${instance.id} ${number}`,
      { jid, isChecked: remembered !== undefined || session !== undefined },
      { ttl: found ? RESOLVED_MS : OPEN_MS },
    );
    return jid;
  }

  function isResolved(instanceId: number, address: string): boolean {
    const number = phoneOfJid(address as Jid);
    if (number === null || alternativeNumber(number) === undefined) return true;
    const known = resolved.get(`${instanceId} ${number}`);
    return known?.isChecked === true && known.jid === address;
  }

  return {
    resolve,
    isResolved,
    resolveAll: (instance, jids) => resolveTogether(deps, instance, jids),
    findCached: (instanceId, numbers) => findChecks(deps.db, instanceId, numbers),
    cache: (instance, checks) => remember(deps, instance, checks),
  };
}

/** Digits that are no valid phone are a LID, if a person with that LID is known. */
async function findLid(
  conversations: Conversations,
  instanceId: number,
  jid: Jid,
  digits: string,
): Promise<Jid> {
  const lid = lidJid(digits);
  const person = await conversations.identify(instanceId, {
    jid: lid,
    lid: null,
    phone: null,
    push_name: null,
  });
  return person.lid === null ? jid : person.jid;
}

async function resolveTogether(
  deps: NumberResolverDeps,
  instance: InstanceRef,
  requested: readonly Jid[],
): Promise<Jid[]> {
  const jids = await Promise.all(
    requested.map((jid) => {
      const number = phoneOfJid(jid);
      return number !== null && isImpossiblePhone(number)
        ? findLid(deps.conversations, instance.id, jid, number)
        : deps.conversations.addressOf(instance.id, jid);
    }),
  );
  const variants = new Map<Jid, [string, string]>();
  for (const jid of jids) {
    const number = phoneOfJid(jid);
    const other = number === null ? undefined : alternativeNumber(number);
    if (number !== null && other !== undefined) variants.set(jid, [number, other]);
  }
  if (variants.size === 0) return jids;
  const known = await findRegistered(deps.db, instance.id, [...variants.values()].flat());
  const open = [...variants.values()].filter((pair) => !choose(known, ...pair)).flat();
  const contacts = open.length > 0 ? deps.connectedSession(instance.id)?.contacts : undefined;
  const checks = (contacts && (await withoutFailure(contacts.check(open)))) ?? [];
  await remember(deps, instance, checks);
  const all = new Map([...known, ...checks.map((one) => [one.number, one] as const)]);
  return jids.map((jid) => {
    const pair = variants.get(jid);
    return (pair && choose(all, ...pair)) ?? jid;
  });
}

/** If both formats exist, the given one counts; undefined while too little is known. */
function choose(
  checks: ReadonlyMap<string, Pick<NumberCheck, "jid">>,
  number: string,
  other: string,
): Jid | undefined {
  const [requested, otherwise] = [checks.get(number), checks.get(other)];
  if (requested?.jid) return requested.jid;
  if (requested && otherwise) return otherwise.jid ?? phoneJid(number);
  return undefined;
}

async function withoutFailure(
  query: Promise<OperationResult<NumberCheck[]>>,
): Promise<NumberCheck[] | undefined> {
  const result = await withTimeout(query, TIMEOUT_MS).catch(() => undefined);
  return result?.outcome === "done" ? result.value : undefined;
}

/** A registered number is cached for long; an unregistered one may be registered tomorrow. */
const IS_FRESH = sql<boolean>`checked_at > now() - case when jid is null then interval '1 day' else interval '30 days' end`;

async function findFreshChecks(
  db: Db,
  instanceId: number,
  numbers: string[],
): Promise<Map<string, CachedNumber>> {
  const rows = await db
    .selectFrom("number_check")
    .select(["number", "jid", "lid", "verified_name", "checked_at"])
    .where("instance_id", "=", instanceId)
    .where("number", "in", numbers)
    .where(IS_FRESH)
    .$castTo<CachedNumber>()
    .execute();
  return new Map(rows.map((row) => [row.number, row]));
}

/** A person who has written to the instance is registered, whether or not the network was asked. */
async function findRegistered(
  db: Db,
  instanceId: number,
  numbers: string[],
): Promise<Map<string, Pick<CachedNumber, "jid">>> {
  const contacts = await db
    .selectFrom("contact")
    .select(["phone", "jid"])
    .where("instance_id", "=", instanceId)
    .where("jid", "in", numbers.map(phoneJid))
    .where(({ eb, or }) => or([eb("lid", "is not", null), eb("push_name", "is not", null)]))
    .$castTo<{ phone: string; jid: Jid }>()
    .execute();
  const met = new Map<string, Pick<CachedNumber, "jid">>(contacts.map((row) => [row.phone, row]));
  return new Map([...met, ...(await findFreshChecks(db, instanceId, numbers))]);
}

async function findChecks(
  db: Db,
  instanceId: number,
  numbers: readonly string[],
): Promise<Map<string, CachedNumber>> {
  return numbers.length === 0 ? new Map() : findFreshChecks(db, instanceId, [...numbers]);
}

/** Stores a registered person as a contact, with linked addresses. */
async function remember(
  { db, conversations }: NumberResolverDeps,
  instance: InstanceRef,
  checked: NumberCheck[],
): Promise<void> {
  if (checked.length === 0) return;
  const checks = cleanFromNetwork(checked);
  await sql`
    insert into number_check as n (instance_id, account_id, number, jid, lid, verified_name)
    select distinct on (number) ${instance.id}, ${instance.account_id}, number, jid, lid, verified_name
    from jsonb_to_recordset(${JSON.stringify(checks)}::jsonb)
      as x (number text, jid text, lid text, verified_name text)
    order by number
    on conflict (instance_id, number) do update set
      jid = excluded.jid, lid = excluded.lid, verified_name = excluded.verified_name, checked_at = now()`.execute(
    db,
  );
  await Promise.all(
    checks
      .filter(({ jid, lid }) => jid !== null && lid !== null)
      .map(({ jid, lid, verified_name }) =>
        conversations.updateContact(instance, {
          jid,
          lid,
          verified_name,
          phone: jid && phoneOfJid(jid),
          name: null,
          push_name: null,
        }),
      ),
  );
}
