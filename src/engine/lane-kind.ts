/** A lane that this node owns, under the epoch of this ownership. */
export interface Lane {
  readonly id: number;
  readonly kind: string;
  readonly key: string;
  readonly epoch: number;
}

/** One thing to do, as it was read from its row. */
export interface Job {
  readonly id: number;
  readonly lane: Lane;
  readonly prio: number;
  readonly pos: number;
  readonly grp: string;
  readonly run_at: Date;
  /** Tries that ended in a retry; the death of a worker counts for none. */
  readonly attempts: number;
  readonly max_attempts: number | null;
  readonly ref: unknown;
}

interface JobResultNotes {
  /** What this try says about the lane; only read where the kind has `probation`. */
  proven?: boolean;
  /** Start no further job of this lane for so many milliseconds. */
  pauseLaneMs?: number;
  /** The job becomes its own group, so that the rest of its group moves on. */
  parkGroup?: boolean;
}

/**
 * How a job ends. `settled`: the feature has committed the fate of the row together with its own change; with
 * `deleted` it also says that the row is gone. The other three are written by the engine, under the fence. A `retry`
 * with an `error` is logged as our bug; one that would be more than `max_attempts` becomes a `give_up`.
 */
export type JobResult = JobResultNotes &
  (
    | { end: "settled"; deleted?: boolean }
    | { end: "done" }
    | { end: "retry"; at: Date; error?: unknown }
    | { end: "give_up"; reason: string }
  );

/** What a feature adds to the engine: how the jobs of its lanes are run, and what owning such a lane means. */
export interface LaneKind {
  readonly kind: string;
  readonly role: "sessions" | "worker";
  /** Jobs of one lane in flight at once, at most one per group. */
  readonly width: number;
  /** Jobs read ahead per lane. Only where `pos` rises with every new job of a group and `prio` stays the same. */
  readonly lookahead?: number;
  /** One slot until a job ends `proven`, then `width`; one again after `proven: false`. */
  readonly probation?: boolean;
  /** Groups that run also while their lane is paused. */
  readonly unpaused?: readonly string[];
  /** Jobs of this kind in flight per node, a quarter of them for unproven lanes. With `probation` 256 unless said. */
  readonly budget?: number;
  /** Called at the start of every node with this role, before it takes lanes. A throw fails the start. */
  prepare?(): Promise<void>;
  /** Throws only for a bug of ours: it is logged and the job tried again later. */
  run(job: Job): Promise<JobResult>;
  /** The lane is ours from now on; its jobs start when this resolves. Sixteen at once per node at most. A throw is logged and it is called again. */
  taken?(lane: Lane): Promise<void>;
  /** The lane is ours no longer: stop acting for it at once. Can be called while `taken` still runs. */
  lost?(lane: Lane): Promise<void>;
}
