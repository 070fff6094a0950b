import type { Companion } from "./companion.ts";
import type { ServerConnection } from "./connection.ts";
import type { Network } from "./network.ts";
import type { BinaryNode } from "./protocol/nodes.ts";

/** What a client asks of the network. */
export interface Query {
  network: Network;
  connection: ServerConnection;
  companion: Companion;
  iq: BinaryNode;
  /** The only child, mostly. */
  first: BinaryNode | undefined;
}

/** Undefined: not understood. */
export type QueryHandler = (query: Query) => BinaryNode | undefined | Promise<BinaryNode | undefined>;
