import { timingSafeEqual } from "node:crypto";
import { sql } from "kysely";
import type { Engine } from "../../../engine/engine.ts";
import type { Db } from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT } from "../../../platform/db/prepared-statement.ts";
import type { AssistantScope } from "../../../platform/http/route.ts";
import { createTtlCache } from "../../../platform/ttl-cache.ts";
import type { AccountTable, AccountUserTable } from "../../../tables.ts";
import { accountStateSql } from "../account-state.ts";
import { type PlanRates, withInstanceRate } from "./rate-limits.ts";

/** How old a cached credential may be; tests shorten it. */
export const CREDENTIAL_TIMING = { ttlMs: 5_000 };

const MOST_KEYS = 20_000;
const MOST_SIGN_INS = 5_000;
const MOST_INSTANCES = 5_000;

export interface CachedApiKey {
  id: number;
  account_id: number;
  instance_id: number;
  scope: "instance" | "account";
  /** Whether keys of the account may list and create instances. */
  may_manage: boolean;
  account_status: string;
  features: Readonly<Record<string, unknown>>;
  rates: PlanRates;
}

/** `good_until`: expiry on this process's monotonic clock, never later than the key's expiry date. */
interface LoadedApiKey extends CachedApiKey {
  good_until: number;
}

export interface CachedSignIn {
  user_id: number;
  account_id: number;
  account_type: AccountTable["account_type"];
  role: AccountUserTable["role"];
  /** Only an agent has a list; null: all of the account. */
  instance_ids: number[] | null;
  /** The password was given within the last ten minutes. */
  is_fresh: boolean;
  account_status: string;
  features: Readonly<Record<string, unknown>>;
  rates: PlanRates;
}

/** What the token of an assistant opens now. */
export interface ConnectedAssistant extends Pick<CachedSignIn, "user_id" | "account_id" | "role"> {
  grant_id: number;
  /** Those of the grant that still exist and that its user reaches; never none. */
  instance_ids: number[];
  scopes: AssistantScope[];
  account_status: string;
  features: Readonly<Record<string, unknown>>;
  rates: PlanRates;
}

export interface CachedInstance {
  account_id: number;
  /** The limit in the instance's settings. */
  messages_per_minute: number | null;
}

/** Caches keys, sign-ins and instances for at most 5 s, and a key never beyond its expiry date. */
export interface CredentialCache {
  findApiKey(digest: Buffer): Promise<CachedApiKey | undefined>;
  findSignIn(id: string): Promise<CachedSignIn | undefined>;
  findInstance(id: number): Promise<CachedInstance | undefined>;
  invalidateApiKeys(digests: readonly Buffer[]): void;
  invalidateSignIns(ids: readonly string[]): void;
}

const TOPIC = "credential";
type Kind = "key" | "sign_in";

export function createCredentialCache(
  db: Db,
  engine?: Pick<Engine, "publish" | "subscribe">,
): CredentialCache {
  const { ttlMs } = CREDENTIAL_TIMING;
  const keys = createTtlCache({ max: MOST_KEYS, ttlMs, load: (hex) => loadApiKey(db, hex) });
  const signIns = createTtlCache({ max: MOST_SIGN_INS, ttlMs, load: (id) => loadSignIn(db, id) });
  const instances = createTtlCache({ max: MOST_INSTANCES, ttlMs, load: (id) => loadInstance(db, id) });

  function invalidate(kind: Kind, id: string): void {
    if (kind === "key") keys.delete(id);
    else signIns.delete(id);
  }
  function invalidateEverywhere(kind: Kind, ids: readonly string[]): void {
    for (const id of ids) {
      invalidate(kind, id);
      engine?.publish(TOPIC, `${kind}:${id}`);
    }
  }
  engine?.subscribe(TOPIC, (notification) => {
    const [kind, id = ""] = notification.split(":");
    if (kind === "key" || kind === "sign_in") invalidate(kind, id);
  });

  return {
    async findApiKey(digest) {
      const found = await keys.get(digest.toString("hex"));
      return found && found.good_until > performance.now() ? found : undefined;
    },
    findSignIn: (id) => signIns.get(id),
    findInstance: (id) => instances.get(String(id)),
    invalidateApiKeys: (digests) =>
      invalidateEverywhere(
        "key",
        digests.map((digest) => digest.toString("hex")),
      ),
    invalidateSignIns: (ids) => invalidateEverywhere("sign_in", ids),
  };
}

async function loadApiKey(db: Db, hex: string): Promise<LoadedApiKey | undefined> {
  const requestedAt = performance.now();
  const digest = Buffer.from(hex, "hex");
  const found = await db
    .selectFrom("api_key")
    .modifyFront(PREPARED_STATEMENT)
    .innerJoin("instance", "instance.id", "api_key.instance_id")
    .innerJoin("account", "account.id", "api_key.account_id")
    .innerJoin("plan", "plan.id", "account.plan_id")
    .select(["api_key.id", "api_key.account_id", "api_key.instance_id", "api_key.scope"])
    .select(mayManage.as("may_manage"))
    .select([accountStateSql.as("account_status"), "plan.features", planRatesSql.as("plan_rates")])
    .select([messagesPerMinute.as("messages_per_minute")])
    .select(["api_key.digest", isUseStale.as("is_use_stale"), msLeft.as("ms_left")])
    .where("api_key.digest", "=", digest)
    .where(({ eb, or }) => or([eb("api_key.expires_at", "is", null), eb("api_key.expires_at", ">", now)]))
    .where("instance.removed_at", "is", null)
    .executeTakeFirst();
  if (!found || !timingSafeEqual(found.digest, digest)) return undefined;
  const { digest: _, is_use_stale, ms_left, plan_rates, messages_per_minute, ...key } = found;
  if (is_use_stale) void recordUse(db, key.id);
  const rates = withInstanceRate(plan_rates, messages_per_minute);
  return { ...key, rates, good_until: requestedAt + (ms_left ?? Number.POSITIVE_INFINITY) };
}

const now = sql<Date>`now()`;
const msLeft = sql<number | null>`(extract(epoch from api_key.expires_at - now()) * 1000)::float8`;
const messagesPerMinute = sql<number | null>`(instance.settings ->> 'messages_per_minute')::int`;
/** For a `plan`. */
export const planRatesSql = sql<PlanRates>`json_build_object(
  'api_rate_limit_per_minute', plan.api_rate_limit_per_minute,
  'instance_rate_limit_per_minute', plan.instance_rate_limit_per_minute,
  'message_rate_limit_per_minute', plan.message_rate_limit_per_minute)`;
const isFresh = sql<boolean>`sign_in.confirmed_at > now() - interval '10 minutes'`;
const mayManage = sql<boolean>`coalesce((account.settings ->> 'keys_manage_instances')::boolean, true)`;
const isUseStale = sql<boolean>`api_key.last_used_at is null or api_key.last_used_at < now() - interval '1 minute'`;

/** Not awaited: the request must neither wait nor fail for this. The next use retries. */
async function recordUse(db: Db, id: number): Promise<void> {
  await db
    .updateTable("api_key")
    .set({ last_used_at: now })
    .where("id", "=", id)
    .where(isUseStale)
    .execute()
    .catch(() => {});
}

async function loadSignIn(db: Db, id: string): Promise<CachedSignIn | undefined> {
  return db
    .selectFrom("sign_in")
    .modifyFront(PREPARED_STATEMENT)
    .innerJoin("account_user", "account_user.id", "sign_in.user_id")
    .innerJoin("account", "account.id", "account_user.account_id")
    .innerJoin("plan", "plan.id", "account.plan_id")
    .select(["account_user.id as user_id", "account_user.account_id", "account_user.role"])
    .select("account_user.instance_ids")
    .select(["account.account_type", accountStateSql.as("account_status"), "plan.features"])
    .select([planRatesSql.as("rates"), isFresh.as("is_fresh")])
    .where("sign_in.id", "=", id)
    .where("sign_in.expires_at", ">", now)
    .executeTakeFirst();
}

async function loadInstance(db: Db, id: string): Promise<CachedInstance | undefined> {
  return db
    .selectFrom("instance")
    .modifyFront(PREPARED_STATEMENT)
    .select(["account_id", messagesPerMinute.as("messages_per_minute")])
    .where("id", "=", Number(id))
    .where("removed_at", "is", null)
    .executeTakeFirst();
}
