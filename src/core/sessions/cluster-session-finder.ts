import { setTimeout as delay } from "node:timers/promises";
import type { ReachableSession } from "../../network/driver.ts";
import type { RemoteOperation, RemoteOperationResult } from "../../network/remote-session.ts";
import type { Db } from "../../platform/db/database.ts";
import type { NodeRpcClient } from "../../platform/nodes/node-rpc-client.ts";
import { findInstance } from "../instances/instances.ts";

export interface ClusterSessionFinderDeps {
  db: Db;
  /** Id of this node in the engine. */
  node: string;
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => ReachableSession | undefined;
  /** The session of an instance that this node has open, connected or not. */
  openedSession: (instanceId: number) => ReachableSession | undefined;
  /** The connection to other nodes; undefined: this node knows none. */
  remote:
    | {
        client: Pick<NodeRpcClient, "request">;
        timeoutMs: number;
        /** Creates the operations of a session on another node. */
        createRemoteSession(
          instanceId: number,
          request: (operation: RemoteOperation) => Promise<RemoteOperationResult>,
        ): ReachableSession;
      }
    | undefined;
}

/** Finds the session of an instance on any node, for operations that leave no row. */
export interface ClusterSessionFinder {
  /** The live session of an instance; waits briefly for one that is connecting. */
  findSession(instanceId: number): Promise<ReachableSession | undefined>;
  /** The session of an instance that is being paired. */
  findPairingSession(instanceId: number): Promise<ReachableSession | undefined>;
}

const FIND_WITHIN_MS = 2_000;
const FIND_AGAIN_MS = 100;

export function createClusterSessionFinder(deps: ClusterSessionFinderDeps): ClusterSessionFinder {
  const { db, connectedSession, openedSession } = deps;
  return {
    findSession: (id) => untilFound(db, id, () => find(deps, id, connectedSession(id))),
    findPairingSession: (id) => find(deps, id, openedSession(id)),
  };
}

/** Finds the session on this node, or on the node that owns its lane. */
async function find(
  { db, node, remote }: ClusterSessionFinderDeps,
  instanceId: number,
  here: ReachableSession | undefined,
): Promise<ReachableSession | undefined> {
  if (here || !remote) return here;
  const findUrl = () => findOwner(db, node, instanceId);
  if (!(await findUrl())) return undefined;
  return remote.createRemoteSession(instanceId, (operation) => requestOwner(remote, findUrl, operation));
}

/** Waits, because after a restart or move the row says `connected` before the session is reachable. */
async function untilFound(
  db: Db,
  instanceId: number,
  poll: () => Promise<ReachableSession | undefined>,
): Promise<ReachableSession | undefined> {
  const giveUpAt = performance.now() + FIND_WITHIN_MS;
  for (;;) {
    const session = await poll();
    if (session || performance.now() > giveUpAt || !(await isConnected(db, instanceId))) return session;
    await delay(FIND_AGAIN_MS);
  }
}

async function isConnected(db: Db, instanceId: number): Promise<boolean> {
  return (await findInstance(db, instanceId))?.status === "connected";
}

/** Retries once if nothing was done, since the session may have just moved. */
async function requestOwner(
  { client, timeoutMs }: NonNullable<ClusterSessionFinderDeps["remote"]>,
  findUrl: () => Promise<string | undefined>,
  { instance, name, args }: RemoteOperation,
): Promise<RemoteOperationResult> {
  const giveUpAt = performance.now() + timeoutMs;
  // The field names that every version of the gateway reads.
  const input = { instance, call: name, args };
  let reason = "No node has the session.";
  for (let attempts = 0; attempts < 2; attempts++) {
    const url = await findUrl();
    const leftMs = Math.ceil(giveUpAt - performance.now());
    if (!url || leftMs <= 0) break;
    const response = await client.request({ url, name: "session", input, timeoutMs: leftMs });
    if (response.outcome === "value") return response;
    if (response.outcome === "stream") {
      response.body.destroy();
      return { outcome: "unknown", reason: "The other node returned a file." };
    }
    if (response.outcome === "not_here") continue;
    if (response.executed) return { outcome: "unknown", reason: response.reason };
    reason = response.reason;
  }
  return { outcome: "unreachable", reason };
}

/** URL of the node that owns the session's lane, unless it is this node. */
async function findOwner(db: Db, node: string, instanceId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom("instance")
    .innerJoin("lane", "lane.id", "instance.lane")
    .innerJoin("node", "node.id", "lane.owner")
    .select("node.url")
    .where("instance.id", "=", instanceId)
    .where("node.id", "<>", node)
    .where("node.dead", "=", false)
    .executeTakeFirst();
  return row?.url ?? undefined;
}
