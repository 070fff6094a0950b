import { performance } from "node:perf_hooks";
import { type Db, isDatabaseFull, isDatabaseUnavailable } from "../../platform/db/database.ts";
import type { Log } from "../../platform/log/log.ts";
import { type BatchWriter, createBatchWriter } from "../batch-queue.ts";
import type { DatabaseAvailability } from "../cluster/database-availability.ts";
import { type AddedJob, type JobDisposition, singleJobGroup, writeJobDispositions } from "../job-store.ts";
import { JobFetcher } from "./job-fetcher.ts";
import type { Job, JobResult, Lane, LaneKind } from "./lane-kind.ts";
import type { OwnedLane } from "./owned-lane.ts";

const PROBATION_BUDGET = 256;
const ABORTED_WAIT_MS = 1_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 300_000;

export interface LaneDispatcherOptions {
  db: Db;
  node: string;
  log: Log;
  availability: DatabaseAvailability;
  /** Whether jobs may be started now. */
  mayStart(): boolean;
  /** A fenced write no longer found the lane. */
  onLost(work: OwnedLane): void;
}

/** Which part of the budget a lane uses. */
type BudgetPart = "proven" | "unproven";

/** A slot and a group that are occupied for one job. Ends with `run` or `cancel`, whichever comes first. */
export interface JobReservation {
  readonly lane: Lane;
  /** Runs the job, which has been committed, by this function instead of the kind's `run`. */
  run(job: AddedJob, perform: LaneKind["run"]): void;
  /** Frees the place; the lane then reads its jobs. */
  cancel(): void;
}

/** Runs the jobs of all lanes of one kind: round robin, within this node's budget. */
export class LaneDispatcher {
  readonly kind: LaneKind;
  readonly #options: LaneDispatcherOptions;
  readonly #reader: JobFetcher;
  readonly #dispositions: BatchWriter<JobDisposition, boolean>;
  readonly #healthy = new FifoQueue<OwnedLane>();
  readonly #unproven = new FifoQueue<OwnedLane>();
  readonly #running = new Set<Promise<void>>();
  /** Jobs in flight and lanes being read, per part of the budget. */
  readonly #used = { proven: 0, unproven: 0 };
  readonly #reading = new Map<OwnedLane, BudgetPart>();
  readonly #budget: number;
  #isUnprovensTurn = false;
  #isDispatchDue = false;

  constructor(kind: LaneKind, options: LaneDispatcherOptions) {
    this.kind = kind;
    this.#options = options;
    this.#budget = kind.nodeConcurrency ?? (kind.slowStart ? PROBATION_BUDGET : Number.POSITIVE_INFINITY);
    this.#reader = new JobFetcher(options.db, options.availability, (work) => this.#wasRead(work));
    this.#dispositions = createBatchWriter({
      write: (dispositions) => writeJobDispositions(options.db, options.node, dispositions),
      maxBatch: 200,
    });
  }

  get inFlight(): number {
    return this.#running.size;
  }

  /** Dispatches the lane as long as it has jobs to start. */
  enqueue(work: OwnedLane): void {
    this.#setTimer(work);
    if (work.isQueued || !work.isRunnable()) return;
    work.isQueued = true;
    (work.isHealthy ? this.#healthy : this.#unproven).push(work);
    this.dispatch();
  }

  /** Occupies a place for a job of this group that would start at once; undefined if the job must wait. */
  reserve(work: OwnedLane, grp: string): JobReservation | undefined {
    if (!this.#options.mayStart() || this.#usedTotal() >= this.#budget || !work.reserve(grp))
      return undefined;
    const part = this.#use(work);
    let isEnded = false;
    const end = (then: () => void) => {
      if (!isEnded) then();
      isEnded = true;
    };
    return {
      lane: work.lane,
      run: (job, perform) => end(() => this.#start(work, part, work.toReservedJob(job), perform)),
      cancel: () =>
        end(() => {
          work.finishJob(grp, {});
          this.#free(work, part);
        }),
    };
  }

  /** Resolves when no job is in flight and every job result is written. */
  async whenIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
  }

  /** Starts as many jobs as the budget allows. */
  dispatch(): void {
    if (this.#isDispatchDue) return;
    this.#isDispatchDue = true;
    setImmediate(() => {
      this.#isDispatchDue = false;
      if (!this.#options.mayStart()) return;
      for (let work = this.#nextLane(); work; work = this.#nextLane()) this.#startNextJob(work);
    });
  }

  #nextLane(): OwnedLane | undefined {
    if (this.#usedTotal() >= this.#budget) return undefined;
    const hasSlotForUnproven = this.#used.unproven < Math.max(1, Math.floor(this.#budget / 4));
    this.#isUnprovensTurn = !this.#isUnprovensTurn;
    if (!hasSlotForUnproven) return this.#healthy.shift();
    if (this.#isUnprovensTurn) return this.#unproven.shift() ?? this.#healthy.shift();
    return this.#healthy.shift() ?? this.#unproven.shift();
  }

  #usedTotal(): number {
    return this.#used.proven + this.#used.unproven;
  }

  #startNextJob(work: OwnedLane): void {
    work.isQueued = false;
    if (!work.isRunnable()) return;
    const job = work.startNextJob();
    // Its read has not begun yet, or has failed and pauses. Another place would never become free again.
    if (!job && this.#reading.has(work)) return;
    const part = this.#use(work);
    if (!job) {
      this.#reading.set(work, part);
      this.#reader.add(work);
      return;
    }
    this.#start(work, part, job, (one) => this.kind.run(one));
    this.enqueue(work);
  }

  #start(work: OwnedLane, part: BudgetPart, job: Job, perform: LaneKind["run"]): void {
    const running = this.#perform(work, job, perform).finally(() => {
      this.#running.delete(running);
      this.#free(work, part);
    });
    this.#running.add(running);
  }

  #use(work: OwnedLane): BudgetPart {
    const part = work.isHealthy ? "proven" : "unproven";
    this.#used[part] += 1;
    return part;
  }

  #free(work: OwnedLane, part: BudgetPart): void {
    this.#used[part] -= 1;
    this.enqueue(work);
    this.dispatch();
  }

  #wasRead(work: OwnedLane): void {
    const part = this.#reading.get(work);
    this.#reading.delete(work);
    if (part) this.#free(work, part);
  }

  async #perform(work: OwnedLane, job: Job, perform: LaneKind["run"]): Promise<void> {
    const result = await runJob(job, this.#options.log, perform);
    if (result.end === "give_up") {
      const about = {
        lane_kind: this.kind.kind,
        lane_key: job.lane.key,
        job_id: job.id,
        reason: result.reason,
      };
      this.#options.log.warn(about, "a job was abandoned");
    }
    const isOwned = await this.#write(work, dispositionOf(job, result));
    if (result.isHealthy !== undefined && this.kind.slowStart) work.isHealthy = result.isHealthy;
    if (result.pauseLaneMs !== undefined) work.pause(result.pauseLaneMs);
    work.finishJob(job.grp, isRowGone(result) ? undefined : { waitMs: waitAfter(result) });
    if (!isOwned) this.#options.onLost(work);
  }

  // A lost result would run the job twice, so this waits for the database as long as this node owns the lane.
  async #write(work: OwnedLane, disposition: JobDisposition | undefined): Promise<boolean> {
    while (disposition) {
      try {
        return await this.#dispositions.write(disposition);
      } catch (error) {
        await this.#options.availability.recordFailureAndWait(error);
        if (work.isClosed) return false;
      }
    }
    return true;
  }

  #setTimer(work: OwnedLane): void {
    const at = work.nextChangeAt();
    if (at === undefined || work.isClosed || (work.timer && work.timer.at <= at)) return;
    clearTimeout(work.timer?.handle);
    const ring = () => {
      work.timer = undefined;
      work.expireWaits();
      this.enqueue(work);
    };
    const inMs = Math.min(LONGEST_TIMER_MS, Math.max(1, Math.ceil(at - performance.now())));
    work.timer = { at, handle: setTimeout(ring, inMs) };
  }
}

/** Result of one attempt. `aborted`: the database became unavailable or full, so the attempt does not count. */
type JobRunResult = JobResult | { end: "aborted"; isHealthy?: undefined; pauseLaneMs?: undefined };

/** Runs one job; a throw is a bug, logged in full and turned into a retry. */
async function runJob(job: Job, log: Log, perform: LaneKind["run"]): Promise<JobRunResult> {
  const { kind: lane_kind, key: lane_key } = job.lane;
  const about = { lane_kind, lane_key, job_id: job.id, attempts: job.attempts + 1 };
  try {
    const end = await perform(job);
    if (end.end === "retry" && end.error !== undefined)
      log.error({ ...about, err: end.error }, "a job failed");
    if (end.end !== "retry" || !isLastAttempt(job)) return end;
    return { ...end, end: "give_up", reason: "all its attempts have failed" };
  } catch (error) {
    if (isDatabaseUnavailable(error) || isDatabaseFull(error)) return { end: "aborted" };
    log.error({ ...about, err: error }, "a job threw; it will be retried");
    return afterThrow(job);
  }
}

// Never abandoned, since the request was accepted. After its last attempt only the rest of its group moves on.
function afterThrow(job: Job): JobResult {
  const delayMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(job.attempts, 20));
  const at = new Date(Date.now() + delayMs);
  return { end: "retry", at, isHealthy: false, parkGroup: isLastAttempt(job) };
}

function isLastAttempt(job: Job): boolean {
  return job.max_attempts !== null && job.attempts + 1 >= job.max_attempts;
}

/** What the engine must write for this result, if anything. */
function dispositionOf(job: Job, result: JobRunResult): JobDisposition | undefined {
  if (result.end === "committed" || result.end === "aborted") return undefined;
  if (result.end !== "retry") return { job: job.id, lane: job.lane, retry: null };
  const grp = result.parkGroup ? singleJobGroup(job.id) : job.grp;
  return {
    job: job.id,
    lane: job.lane,
    retry: { delay_ms: millisecondsUntil(result.at), attempts: job.attempts + 1, grp },
  };
}

function isRowGone(result: JobRunResult): boolean {
  if (result.end === "committed") return result.deleted === true;
  return result.end === "done" || result.end === "give_up";
}

function waitAfter(result: JobRunResult): number | undefined {
  if (result.end === "aborted") return ABORTED_WAIT_MS;
  return result.end === "retry" && !result.parkGroup ? millisecondsUntil(result.at) : undefined;
}

/** Milliseconds from now, never below zero. */
function millisecondsUntil(at: Date): number {
  return Math.max(0, at.getTime() - Date.now());
}

/** A queue with constant-time operations at both ends, at any length. */
class FifoQueue<Item> {
  #items: Item[] = [];
  #first = 0;

  get size(): number {
    return this.#items.length - this.#first;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#first++];
    if (this.#first > 1_000 && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}
