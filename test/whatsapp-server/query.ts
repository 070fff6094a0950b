import type { Companion } from "./companion.ts";
import type { ServerConnection } from "./connection.ts";
import type { Network } from "./network.ts";
import type { BinaryNode } from "./protocol/nodes.ts";

export interface Query {
  network: Network;
  connection: ServerConnection;
  companion: Companion;
  iq: BinaryNode;
  /** Usually the only child. */
  first: BinaryNode | undefined;
}

/** Undefined if the query is unknown. */
export type QueryHandler = (query: Query) => BinaryNode | undefined | Promise<BinaryNode | undefined>;
