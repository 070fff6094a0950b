import type { Readable } from "node:stream";
import {
  type ClusterSessionFinder,
  createClusterSessionFinder,
} from "../core/sessions/cluster-session-finder.ts";
import { findNodeUrl } from "../engine/cluster/find-node-url.ts";
import type { Engine } from "../engine/engine.ts";
import type { ReachableSession, Session } from "../network/driver.ts";
import {
  createLocalSession,
  createRemoteSession,
  isPairingOperation,
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
  /** What extensions answer to other nodes. */
  nodeRequests: NodeRpcHandlers;
}

/** Access to other nodes: their sessions, for operations that leave no row, and the files in their folders. */
export interface ClusterNodes extends ClusterSessionFinder {
  /** Undefined if that node is unreachable or does not have the file. */
  readFile(node: string, name: string, range: ByteRange | undefined): Promise<Readable | undefined>;
  /** What an extension's handler on that node returns; undefined as with `readFile`. */
  readFromNode(
    node: string,
    request: { name: string; input: Record<string, unknown> },
  ): Promise<Readable | undefined>;
  /** What other nodes may request from this one; undefined without a cluster secret or an address. */
  readonly route: NodeRpcRouteOptions | undefined;
  close(): Promise<void>;
}

/** The largest part of an operation is the picture of a group or profile. */
const BODY_BYTES = 32 * 1024 * 1024;

export function createClusterNodes(options: ClusterNodesOptions): ClusterNodes {
  const { config, db, engine, sessions } = options;
  const here = {
    db,
    node: engine.node.id,
    connectedSession: (id: number) => local(sessions.connectedSession(id)),
    openedSession: (id: number) => local(sessions.openedSession(id)),
  };
  const secret = config.clusterSecret?.reveal();
  if (secret === undefined) {
    return {
      ...createClusterSessionFinder({ ...here, remote: undefined }),
      readFile: async () => undefined,
      readFromNode: async () => undefined,
      route: undefined,
      close: async () => {},
    };
  }
  const client = createNodeRpcClient({ secret });
  const timeoutMs = config.ackTimeoutMs;
  const read = (node: string, request: Pick<NodeRpcRequest, "name" | "input">) =>
    readStream(db, client, node, { ...request, timeoutMs });
  return {
    ...createClusterSessionFinder({ ...here, remote: { client, timeoutMs, createRemoteSession } }),
    readFile: (node, name, range) => read(node, { name: "file", input: { name, range } }),
    readFromNode: read,
    // Other nodes cannot reach a node without an address.
    route: config.nodeUrl
      ? { secret, url: config.nodeUrl, bodyLimitBytes: BODY_BYTES, handlers: handlersOf(options) }
      : undefined,
    close: () => client.close(),
  };
}

function local(session: Session | undefined): ReachableSession | undefined {
  return session && createLocalSession(session);
}

async function readStream(
  db: Db,
  client: NodeRpcClient,
  node: string,
  request: Omit<NodeRpcRequest, "url">,
): Promise<Readable | undefined> {
  const url = await findNodeUrl(db, node);
  if (!url) return undefined;
  const response = await client.request({ url, ...request });
  return response.outcome === "stream" ? response.body : undefined;
}

/** A session operation under the field names that every version of the gateway reads. */
interface SessionRequest {
  instance: number;
  call: string;
  args: unknown[];
}

/** What other nodes may request from this one. A request for something that is not here does nothing. */
function handlersOf({ sessions, store, nodeRequests }: ClusterNodesOptions): NodeRpcHandlers {
  return {
    session: async ({ instance, call: name, args }: SessionRequest) => {
      const session = isPairingOperation(name)
        ? sessions.openedSession(instance)
        : sessions.connectedSession(instance);
      return session ? runRemoteOperation(session, { name, args }) : NOT_OWNED_HERE;
    },
    file: async ({ name, range }: { name: string; range?: ByteRange }) =>
      (await store.open(name, range)) ?? NOT_OWNED_HERE,
    ...nodeRequests,
  };
}
