import type { Database } from "../platform/db/database.ts";
import type { Log } from "../platform/log/log.ts";

export type NodeRole = "api" | "sessions" | "worker";

export interface EngineOptions {
  database: Database;
  log: Log;
  /** Name of this node, never used by two processes at once. */
  node_id: string;
  roles: readonly NodeRole[];
  /** Where other nodes reach this one. */
  url?: string;
  /** The predecessor of this node is proven gone: its lanes are taken at the start. Else once it must have closed itself. */
  takeAtOnce: boolean;
  beatMs?: number;
  deadAfterMs?: number;
  selfFenceMs?: number;
  pollMs?: number;
  /** For so long others may take what this node gave back to be even with them; 10,000 unless told. */
  leftAloneMs?: number;
}
