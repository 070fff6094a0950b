/** A lane that this node owns, under the epoch of this ownership. */
export interface Lane {
  readonly id: number;
  readonly kind: string;
  readonly key: string;
  readonly epoch: number;
}

/** One unit of work, as read from its row. */
export interface Job {
  readonly id: number;
  readonly lane: Lane;
  readonly prio: number;
  readonly pos: number;
  readonly grp: string;
  readonly run_at: Date;
  /** Attempts that ended in a retry; the death of a worker does not count. */
  readonly attempts: number;
  readonly max_attempts: number | null;
  readonly ref: unknown;
}

interface JobResultNotes {
  /** What this attempt shows about the lane's health; read only if the kind has `slowStart`. */
  isHealthy?: boolean;
  /** Start no further job of this lane for this many milliseconds. */
  pauseLaneMs?: number;
  /** Moves the job into a group of its own, so that the rest of its group continues. */
  parkGroup?: boolean;
}

/**
 * How a job ends. `committed`: the feature has committed the disposition together with its own change;
 * `deleted` means the row is gone. The engine writes the other three under the fence. It logs a `retry` with
 * an `error` as a bug, and turns a retry beyond `max_attempts` into a `give_up`.
 */
export type JobResult = JobResultNotes &
  (
    | { end: "committed"; deleted?: boolean }
    | { end: "done" }
    | { end: "retry"; at: Date; error?: unknown }
    | { end: "give_up"; reason: string }
  );

/** What a feature adds to the engine: how to run the jobs of its lanes, and how to open and close a lane. */
export interface LaneKind {
  readonly kind: string;
  readonly role: "sessions" | "worker";
  /** Concurrent jobs per lane, at most one per group. */
  readonly laneConcurrency: number;
  /**
   * Jobs read ahead per lane. Requires that `pos` rises with every new job of a group and `prio` is constant.
   */
  readonly prefetch?: number;
  /**
   * Starts with one slot, uses all of `laneConcurrency` once a job reports `isHealthy`, and one slot again after
   * `isHealthy: false`.
   */
  readonly slowStart?: boolean;
  /** Groups that also run while their lane is paused. */
  readonly unpausedGroups?: readonly string[];
  /**
   * Concurrent jobs per node, a quarter of them for lanes not yet healthy. With `slowStart`, 256 by default.
   */
  readonly nodeConcurrency?: number;
  /** Called when a node with this role starts, before it claims lanes. A throw fails the start. */
  prepare?(): Promise<void>;
  /** Throws only for a bug: the engine logs it and retries the job later. */
  run(job: Job): Promise<JobResult>;
  /**
   * This node has claimed the lane; its jobs start when this resolves. Runs for at most 16 lanes at once per
   * node. The engine logs a throw and retries.
   */
  onClaimed?(lane: Lane): Promise<void>;
  /** This node has lost the lane: stop acting for it at once. Can be called while `onClaimed` still runs. */
  onLost?(lane: Lane): Promise<void>;
}
