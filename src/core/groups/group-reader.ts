import { sql } from "kysely";
import type { Jid } from "../../network/driver.ts";
import { type Db, readDatabaseTime } from "../../platform/db/database.ts";
import type { ErrorCode } from "../../platform/error-codes.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { createTokenBuckets } from "../../platform/limits/token-bucket.ts";
import type { RunSessionOperation } from "../session-operations/session-operations.ts";
import { type GroupInstance, type GroupRow, saveGroups } from "./save-groups.ts";

/** Queries about groups per minute for one instance; the network disconnects clients that send more. */
const PER_MINUTE = 20;
/** How often a caller may request newer data. */
const REFRESH_MS = 60_000;
/** Changes may have been missed while the instance was disconnected. */
const MAX_AGE_MS = 12 * 3_600_000;

/** An instance with its current pairing. */
export interface PairedGroupInstance extends GroupInstance {
  jid: string | null;
}

export interface GroupReader {
  /** Refreshes the list if necessary; the stored list is used if the network is unreachable. */
  prepareList(owner: PairedGroupInstance, isRefreshWanted: boolean): Promise<Date | null>;
  getGroup(owner: PairedGroupInstance, jid: Jid, isRefreshWanted: boolean): Promise<GroupRow>;
}

interface Deps {
  db: Db;
  runOperation: RunSessionOperation;
}

export function createGroupReader({ db, runOperation }: Deps): GroupReader {
  const query = createRateLimitedQuery(PER_MINUTE);

  // A caller may have read its age before an earlier query has committed, so each query reads it again.
  const refreshList = (owner: PairedGroupInstance, isRefreshWanted: boolean) =>
    query(owner.id, "*", async () => {
      if (!needsRefresh(await openList(db, owner), isRefreshWanted)) return;
      const requestedAt = await readDatabaseTime(db);
      const groups = await runOperation(owner.id, (session) => session.groups.list());
      await db.transaction().execute(async (trx) => {
        const jids = groups.map((group) => group.jid);
        await saveGroups(trx, owner, groups, requestedAt);
        await trx
          .deleteFrom("group_chat")
          .where("instance_id", "=", owner.id)
          .where("updated_at", "<=", requestedAt)
          .where(sql<boolean>`jid <> all (${jids})`)
          .execute();
        await trx
          .updateTable("group_list")
          .set({ read_at: sql<Date>`now()`, is_stale: false })
          .where("instance_id", "=", owner.id)
          .execute();
      });
    });

  const refreshGroup = (owner: PairedGroupInstance, jid: Jid, isRefreshWanted: boolean) =>
    query(owner.id, jid, async () => {
      if (!needsRefresh(await findGroup(db, owner.id, jid), isRefreshWanted)) return;
      const requestedAt = await readDatabaseTime(db);
      const group = await runOperation(owner.id, (session) => session.groups.get(jid));
      await saveGroups(db, owner, [group], requestedAt);
    });

  return {
    async prepareList(owner, isRefreshWanted) {
      const list = await openList(db, owner);
      if (needsRefresh(list, isRefreshWanted))
        await orStored(list?.read_at != null, refreshList(owner, isRefreshWanted));
      return (await openList(db, owner))?.read_at ?? null;
    },

    async getGroup(owner, jid, isRefreshWanted) {
      await openList(db, owner);
      const stored = await findGroup(db, owner.id, jid);
      if (needsRefresh(stored, isRefreshWanted))
        await orStored(stored !== undefined, refreshGroup(owner, jid, isRefreshWanted));
      const row = await findGroup(db, owner.id, jid);
      if (row) return row;
      throw new GatewayError("NOT_FOUND", "There is no such group.");
    },
  };
}

function needsRefresh(
  stored: { read_at: Date | null; is_stale: boolean } | undefined,
  isRefreshWanted: boolean,
): boolean {
  if (!stored?.read_at || stored.is_stale) return true;
  const age = Date.now() - stored.read_at.getTime();
  return age > (isRefreshWanted ? REFRESH_MS : MAX_AGE_MS);
}

const UNREACHABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "INSTANCE_NOT_CONNECTED",
  "RATE_LIMITED",
  "UNAVAILABLE",
  "SEND_FAILED",
  "SEND_TIMEOUT",
]);

/** Falls back to the stored data when the network does not respond. */
async function orStored(isStored: boolean, refresh: Promise<void>): Promise<void> {
  await refresh.catch((error: unknown) => {
    if (!(isStored && error instanceof GatewayError && UNREACHABLE.has(error.code))) throw error;
  });
}

type RateLimitedQuery = (instanceId: number, what: string, run: () => Promise<void>) => Promise<void>;

/** Shares concurrent identical queries, and limits the queries of an instance. */
export function createRateLimitedQuery(perMinute: number): RateLimitedQuery {
  const buckets = createTokenBuckets();
  const flights = new Map<string, Promise<void>>();

  return (instanceId, what, run) => {
    const key = `${instanceId} ${what}`;
    const flying = flights.get(key);
    if (flying) return flying;
    const { isGranted, waitMs } = buckets.consume({ key: instanceId, perMinute });
    if (!isGranted) return Promise.reject(tooManyQueries(waitMs));
    const flight = run().finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  };
}

function tooManyQueries(waitMs: number): GatewayError {
  return new GatewayError(
    "RATE_LIMITED",
    "The gateway limits its requests about groups to the network. Wait for the seconds in Retry-After, then try again.",
    {
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    },
  );
}

/**
 * The list of this pairing; deletes the list of an earlier one. Undefined while the instance has no pairing.
 */
async function openList(db: Db, { id, account_id, jid: me }: PairedGroupInstance) {
  const list = await db
    .selectFrom("group_list")
    .select(["me", "read_at", "is_stale"])
    .where("instance_id", "=", id)
    .executeTakeFirst();
  if (me === null) return undefined;
  if (list?.me === me) return list;
  return db.transaction().execute(async (trx) => {
    await trx.deleteFrom("group_chat").where("instance_id", "=", id).execute();
    return trx
      .insertInto("group_list")
      .values({ instance_id: id, account_id, me, read_at: null })
      .onConflict((conflict) =>
        conflict.column("instance_id").doUpdateSet({ me, read_at: null, is_stale: false }),
      )
      .returning(["me", "read_at", "is_stale"])
      .executeTakeFirst();
  });
}

function findGroup(db: Db, instanceId: number, jid: string): Promise<GroupRow | undefined> {
  return db
    .selectFrom("group_chat")
    .selectAll()
    .where("instance_id", "=", instanceId)
    .where("jid", "=", jid)
    .executeTakeFirst();
}
