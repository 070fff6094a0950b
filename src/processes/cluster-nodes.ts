import { open } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Engine } from "../engine/engine.ts";
import type { ReachableSession, Session } from "../network/driver.ts";
import {
  createLocalSession,
  createRemoteSession,
  isPairingOperation,
  type RemoteOperation,
  type RemoteOperationResult,
  runRemoteOperation,
} from "../network/remote-session.ts";
import type { Config } from "../platform/config/config.ts";
import type { Db } from "../platform/db/database.ts";
import type { ByteRange, MediaStore } from "../platform/media/media-store.ts";
import {
  NOT_OWNED_HERE,
  type NodeRpcHandlers,
  type NodeRpcRouteOptions,
} from "../platform/nodes/add-node-rpc-route.ts";
import {
  createNodeRpcClient,
  type NodeRpcClient,
  type NodeRpcRequest,
} from "../platform/nodes/node-rpc-client.ts";
import type { SessionHost } from "./session-host.ts";

export interface ClusterNodesOptions {
  config: Pick<Config, "clusterSecret" | "nodeUrl" | "ackTimeoutMs">;
  db: Db;
  engine: Pick<Engine, "node">;
  sessions: SessionHost;
  store: MediaStore;
  backups: { directory: string };
}

/** Access to other nodes: their sessions, for operations that leave no row, and the files in their folders. */
export interface ClusterNodes {
  /** The live session of an instance on any node; waits briefly for one that is connecting. */
  findSession(instanceId: number): Promise<ReachableSession | undefined>;
  /** The session of an instance that is being paired, on any node. */
  findPairingSession(instanceId: number): Promise<ReachableSession | undefined>;
  /** Undefined if that node is unreachable or does not have the file. */
  readFile(node: string, name: string, range: ByteRange | undefined): Promise<Readable | undefined>;
  /** A file in the backup directory of a node; undefined as with `readFile`. */
  readBackup(node: string, file: string): Promise<Readable | undefined>;
  /** What other nodes may request from this one; undefined without a cluster secret or an address. */
  readonly route: NodeRpcRouteOptions | undefined;
  close(): Promise<void>;
}

const REACH_WITHIN_MS = 2_000;
const REACH_AGAIN_MS = 100;
/** The largest part of an operation is the picture of a group or profile. */
const BODY_BYTES = 32 * 1024 * 1024;

export function createClusterNodes(options: ClusterNodesOptions): ClusterNodes {
  const { config, db, engine, sessions } = options;
  const secret = config.clusterSecret?.reveal();
  if (secret === undefined) {
    return {
      findSession: (id) => untilReached(db, id, async () => local(sessions.connectedSession(id))),
      findPairingSession: async (id) => local(sessions.openedSession(id)),
      readFile: async () => undefined,
      readBackup: async () => undefined,
      route: undefined,
      close: async () => {},
    };
  }
  const calls = createNodeRpcClient({ secret });
  const timeoutMs = config.ackTimeoutMs;
  async function read(
    node: string,
    call: Pick<NodeRpcRequest, "name" | "input">,
  ): Promise<Readable | undefined> {
    const url = await findNode(db, node);
    if (!url) return undefined;
    const answer = await calls.request({ url, ...call, timeoutMs });
    return answer.outcome === "stream" ? answer.body : undefined;
  }
  const hereOrThere = async (id: number, here: Session | undefined) => {
    const find = () => findOwner(db, engine.node.id, id);
    if (here || !(await find())) return local(here);
    return createRemoteSession(id, (call) => askOwner(calls, find, call, timeoutMs));
  };
  return {
    findSession: (id) => untilReached(db, id, () => hereOrThere(id, sessions.connectedSession(id))),
    findPairingSession: (id) => hereOrThere(id, sessions.openedSession(id)),
    readFile: (node, name, range) => read(node, { name: "file", input: { name, range } }),
    readBackup: (node, file) => read(node, { name: "backup", input: { file } }),
    // Other nodes cannot reach a node without an address.
    route: config.nodeUrl
      ? { secret, url: config.nodeUrl, bodyLimitBytes: BODY_BYTES, handlers: answersOf(options) }
      : undefined,
    close: () => calls.close(),
  };
}

function local(session: Session | undefined): ReachableSession | undefined {
  return session && createLocalSession(session);
}

/** After a restart or a move, the row says `connected` shortly before the session is reachable. */
async function untilReached(
  db: Db,
  instanceId: number,
  reach: () => Promise<ReachableSession | undefined>,
): Promise<ReachableSession | undefined> {
  const giveUpAt = performance.now() + REACH_WITHIN_MS;
  for (;;) {
    const session = await reach();
    if (session || performance.now() > giveUpAt || !(await isConnected(db, instanceId))) return session;
    await delay(REACH_AGAIN_MS);
  }
}

async function isConnected(db: Db, instanceId: number): Promise<boolean> {
  const row = await db
    .selectFrom("instance")
    .select("status")
    .where("id", "=", instanceId)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  return row?.status === "connected";
}

/** Retries once if nothing was done, since the session may have just moved. */
async function askOwner(
  calls: NodeRpcClient,
  find: () => Promise<string | undefined>,
  input: RemoteOperation,
  timeoutMs: number,
): Promise<RemoteOperationResult> {
  const giveUpAt = performance.now() + timeoutMs;
  let reason = "No node has the session.";
  for (let tries = 0; tries < 2; tries++) {
    const url = await find();
    const leftMs = Math.ceil(giveUpAt - performance.now());
    if (!url || leftMs <= 0) break;
    const answer = await calls.request({ url, name: "session", input, timeoutMs: leftMs });
    if (answer.outcome === "value") return answer;
    if (answer.outcome === "not_here") continue;
    if (answer.outcome === "stream") {
      answer.body.destroy();
      return { outcome: "unknown", reason: "The other node returned a file." };
    }
    if (answer.executed) return { outcome: "unknown", reason: answer.reason };
    reason = answer.reason;
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

async function findNode(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("node")
    .select("url")
    .where("id", "=", id)
    .where("dead", "=", false)
    .executeTakeFirst();
  return row?.url ?? undefined;
}

/** What other nodes may request from this one. A request for something that is not here does nothing. */
function answersOf({ sessions, store, backups }: ClusterNodesOptions): NodeRpcHandlers {
  return {
    session: async ({ instance, call, args }: RemoteOperation) => {
      const session = isPairingOperation(call)
        ? sessions.openedSession(instance)
        : sessions.connectedSession(instance);
      return session ? runRemoteOperation(session, { call, args }) : NOT_OWNED_HERE;
    },
    file: async ({ name, range }: { name: string; range?: ByteRange }) =>
      (await store.open(name, range)) ?? NOT_OWNED_HERE,
    backup: async ({ file }: { file: string }) => (await openIn(backups.directory, file)) ?? NOT_OWNED_HERE,
  };
}

/** A file directly in the directory; undefined for any other path. */
async function openIn(directory: string, file: string): Promise<Readable | undefined> {
  if (basename(file) !== file) return undefined;
  const handle = await open(join(directory, file)).catch(() => undefined);
  return handle?.createReadStream();
}
