import { setTimeout as sleep } from "node:timers/promises";
import type { Engine, Job, JobResult } from "../../engine/engine.ts";
import { lockOwnedLanes } from "../../engine/lane-store.ts";
import type { Trx } from "../../platform/db/database.ts";
import { withTimeout } from "../../platform/limits/with-timeout.ts";
import {
  type ControlJobRef,
  changeStatus,
  controlJobRef,
  findAndLockInstance,
} from "../instances/instances.ts";
import { NO_IDENTITY } from "./connection/connection-recorder.ts";
import { deleteCredential } from "./credential-store.ts";
import type { DeleteNetworkCopiesDeps } from "./delete-network-copies.ts";
import { type OpenSessionDeps, openSession, type SessionOpener } from "./open-session.ts";
import { readSessionOptions } from "./read-session-options.ts";
import { removeInstance } from "./remove-instance.ts";

export interface ControlJobDeps extends OpenSessionDeps, DeleteNetworkCopiesDeps {
  engine: Pick<Engine, "node" | "wake" | "publish" | "markLaneLost">;
  /** Unregisters an instance that will be removed from programs that know it. */
  unregisterInstance(instanceId: number): Promise<void>;
}

const LOGOUT_MS = 10_000;
const LAST_LOGOUT_MS = 5_000;

/** Runs one control job of a session lane: connect, reconnect, logout or delete. */
export async function runControlJob(
  deps: ControlJobDeps,
  sessions: SessionOpener,
  job: Job,
): Promise<JobResult> {
  const ref = controlJobRef.parse(job.ref);
  const id = Number(job.lane.key);
  const row = await deps.db
    .selectFrom("instance")
    .select(["network", "wanted"])
    .where("id", "=", id)
    .executeTakeFirst();
  // One commit deletes the row, its lane and its jobs, so without the row there is no lane.
  if (!row) return { end: "done" };
  const instance = { id, ...row };
  if (ref.do === "logout") return runLogout(deps, sessions, job, instance);
  if (ref.do === "delete") return runDelete(deps, sessions, job, instance);
  await runConnect(deps, sessions, instance, ref);
  return { end: "done" };
}

interface Instance {
  id: number;
  network: "whatsapp" | "sandbox";
  wanted: "stopped" | "connected";
}

/** Does nothing for an instance that was stopped meanwhile. */
async function runConnect(
  deps: ControlJobDeps,
  sessions: SessionOpener,
  instance: Instance,
  ref: Extract<ControlJobRef, { do: "connect" | "reconnect" }>,
): Promise<void> {
  if (instance.wanted === "stopped") return;
  if (ref.do === "reconnect" || ref.afresh) await sessions.close(instance.id);
  await openSession(deps, sessions, instance, ref.do === "connect" ? ref.phone : undefined);
}

async function runLogout(
  deps: ControlJobDeps,
  sessions: SessionOpener,
  job: Job,
  instance: Instance,
): Promise<JobResult> {
  const { db, engine } = deps;
  await unlink(deps, sessions, instance, LOGOUT_MS);
  const lanes = await db.transaction().execute((trx) => recordLogout(trx, engine.node.id, job));
  if (!lanes) {
    engine.markLaneLost(job.lane.id);
    return { end: "committed" };
  }
  engine.wake(lanes);
  engine.publish("instance", job.lane.key);
  return { end: "committed", deleted: true };
}

async function runDelete(
  deps: ControlJobDeps,
  sessions: SessionOpener,
  { lane }: Job,
  instance: Instance,
): Promise<JobResult> {
  const { engine } = deps;
  await Promise.all([unlink(deps, sessions, instance, LAST_LOGOUT_MS), unregister(deps, instance)]);
  const lanes = await removeInstance(deps, engine.node.id, lane);
  if (!lanes) {
    engine.markLaneLost(lane.id);
    return { end: "committed" };
  }
  engine.wake(lanes, { changed: true });
  engine.publish("instance", lane.key);
  return { end: "committed", deleted: true };
}

/** Best effort with a timeout: an unreachable integration later finds that the instance no longer exists. */
async function unregister(deps: ControlJobDeps, { id }: Instance): Promise<void> {
  const unregistering = deps.unregisterInstance(id).catch((error: unknown) => {
    deps.log.warn({ err: error, instance_id: id }, "an integration was not unregistered");
  });
  await withTimeout(unregistering, LAST_LOGOUT_MS);
}

/** Best effort with a timeout: the pairing is deleted here even without the network's confirmation. */
async function unlink(
  deps: ControlJobDeps,
  sessions: SessionOpener,
  { id, network }: Instance,
  ms: number,
): Promise<void> {
  const { log } = deps;
  const unlinking = readSessionOptions(deps, id)
    .then((options) => options && sessions.open(id, network, options).logout())
    .catch((error: unknown) =>
      log.warn({ err: error, instance_id: id }, "the network did not confirm the unlink"),
    );
  const late = new AbortController();
  await Promise.race([unlinking, sleep(ms, undefined, { signal: late.signal }).catch(() => {})]);
  late.abort();
  await sessions
    .close(id)
    .catch((error: unknown) => log.warn({ err: error, instance_id: id }, "the session did not close"));
}

/** Clears identity, credentials, status and job in one commit; undefined if this node lost the lane. */
async function recordLogout(trx: Trx, node: string, job: Job): Promise<number[] | undefined> {
  const id = Number(job.lane.key);
  const owned = await lockOwnedLanes(node, [job.lane]).execute(trx);
  if (owned.rows.length === 0) return undefined;
  await trx.deleteFrom("job").where("id", "=", job.id).execute();
  const row = await findAndLockInstance(trx, id);
  if (!row) return [];
  await deleteCredential(trx, id);
  return changeStatus(trx, row, { status: "disconnected", reason: "logout", set: NO_IDENTITY });
}
