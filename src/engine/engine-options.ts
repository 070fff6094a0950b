import type { Database } from "../platform/db/database.ts";
import type { Log } from "../platform/log/log.ts";

export type NodeRole = "api" | "sessions" | "worker";

export interface EngineOptions {
  database: Database;
  log: Log;
  /** Name of this node; two processes never use it at the same time. */
  node_id: string;
  roles: readonly NodeRole[];
  /** Where other nodes reach this node. */
  url?: string;
  /**
   * True if this node's previous process has certainly ended: claim its lanes at start. Otherwise wait until
   * it must have fenced itself.
   */
  claimImmediately: boolean;
  heartbeatMs?: number;
  deadAfterMs?: number;
  selfFenceMs?: number;
  pollMs?: number;
  /** How long this node leaves handed-over lanes to other nodes; 10,000 ms by default. */
  handoverGraceMs?: number;
}
