import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { createBatchLoader } from "../../../engine/batch-queue.ts";
import type { Db } from "../../../platform/db/database.ts";
import type { Handlers } from "../../../platform/http/handler.ts";
import { withinReach } from "../../../platform/reach.ts";
import { requireUser } from "../../accounts/accounts.ts";
import { createEventStreams, groupBy, type StreamFrame } from "../../events/events.ts";
import type { InstanceRow } from "../../instances/instances.ts";
import type { sessionsContract } from "../contract.ts";
import { toConnectionView, toPairingView } from "./to-connection-view.ts";

export const STATE_STREAM_TIMING = { pollMs: 500 };
const ROWS_AT_ONCE = 500;

/** A version of an instance's row; each write gives the row another one. */
interface RowVersion {
  id: number;
  account_id: number;
  version: string;
}

/** Streams the state of each instance within reach that changes, is created or removed. */
export function streamInstanceStatesHandler(
  db: Db,
): Handlers<typeof sessionsContract>["streamInstanceStates"] {
  const openStream = createEventStreams();
  // One query for the streams of all accounts.
  const loader = createBatchLoader<number, RowVersion[]>({
    load: (accounts) => readVersions(db, accounts),
    maxBatch: 1_000,
  });
  return async (request) => {
    const user = requireUser(request.caller);
    const { account_id } = user;
    const isReached = withinReach(user);
    const load = async () => (await loader.load(account_id)).filter(({ id }) => isReached(id));
    const known = new Map<number, KnownState>();
    for (const { id, version } of await load()) known.set(id, { version, data: "" });
    return openStream(request, String(account_id), async (send, signal) => {
      await send({ event: "ready", data: "{}" });
      while (!signal.aborted) {
        await sendChanges(db, known, await load(), send);
        await sleep(STATE_STREAM_TIMING.pollMs, undefined, { signal });
      }
    });
  };
}

interface KnownState {
  version: string;
  /** As last sent; empty before that. */
  data: string;
}

async function readVersions(db: Db, accounts: readonly number[]): Promise<RowVersion[][]> {
  const { rows } = await sql<RowVersion>`
    select id, account_id, xmin::text as version from instance
    where account_id = any(${accounts}::bigint[]) and removed_at is null order by id`.execute(db);
  const ofAccount = groupBy(rows, (row) => row.account_id);
  return accounts.map((id) => ofAccount(id));
}

async function sendChanges(
  db: Db,
  known: Map<number, KnownState>,
  versions: readonly RowVersion[],
  send: (frame: StreamFrame) => Promise<void>,
): Promise<void> {
  const present = new Map(versions.map(({ id, version }) => [id, version]));
  for (const id of known.keys()) {
    if (present.has(id)) continue;
    known.delete(id);
    await send({ event: "removed", data: JSON.stringify({ id }) });
  }
  const changed = versions.filter(({ id, version }) => known.get(id)?.version !== version);
  for (let at = 0; at < changed.length; at += ROWS_AT_ONCE) {
    const ids = changed.slice(at, at + ROWS_AT_ONCE).map(({ id }) => id);
    for (const row of await readRows(db, ids)) {
      const data = JSON.stringify(await toState(row));
      // A write may concern other columns, such as the time at which the network was last heard.
      if (known.get(row.id)?.data !== data) await send({ event: "state", data });
      known.set(row.id, { version: present.get(row.id) ?? "", data });
    }
  }
}

function readRows(db: Db, ids: readonly number[]): Promise<InstanceRow[]> {
  return db
    .selectFrom("instance")
    .selectAll()
    .where("id", "in", ids)
    .where("removed_at", "is", null)
    .orderBy("id")
    .execute();
}

async function toState(row: InstanceRow) {
  const { updated_at: _, updatedAt: __, ...connection } = toConnectionView(row);
  return { ...connection, ...(await toPairingView(row)) };
}
