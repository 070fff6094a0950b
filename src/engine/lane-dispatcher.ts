import { performance } from "node:perf_hooks";
import type { Db } from "../platform/db/database.ts";
import type { Log } from "../platform/log/log.ts";
import { type BatchWriter, createBatchWriter } from "./batch-writer.ts";
import type { DatabaseAvailability } from "./database-availability.ts";
import { FifoQueue } from "./fifo-queue.ts";
import { JobFetcher } from "./job-fetcher.ts";
import { type JobDisposition, writeJobDispositions } from "./job-store.ts";
import type { Job, LaneKind } from "./lane-kind.ts";
import type { OwnedLane } from "./owned-lane.ts";
import { dispositionOf, type JobRunResult, millisecondsUntil, runJob } from "./run-job.ts";

const PROBATION_BUDGET = 256;
const UNTRIED_WAIT_MS = 1_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

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

/** Runs the jobs of all lanes of one kind: round robin, within this node's budget. */
export class LaneDispatcher {
  readonly kind: LaneKind;
  readonly #options: LaneDispatcherOptions;
  readonly #reader: JobFetcher;
  readonly #fates: BatchWriter<JobDisposition, boolean>;
  readonly #healthy = new FifoQueue<OwnedLane>();
  readonly #unproven = new FifoQueue<OwnedLane>();
  readonly #running = new Set<Promise<void>>();
  /** Jobs in flight and lanes being read, per part of the budget. */
  readonly #used = { proven: 0, unproven: 0 };
  readonly #reading = new Map<OwnedLane, "proven" | "unproven">();
  readonly #budget: number;
  #isUnprovensTurn = false;
  #isPumpDue = false;

  constructor(kind: LaneKind, options: LaneDispatcherOptions) {
    this.kind = kind;
    this.#options = options;
    this.#budget = kind.nodeConcurrency ?? (kind.slowStart ? PROBATION_BUDGET : Number.POSITIVE_INFINITY);
    this.#reader = new JobFetcher(options.db, options.availability, (work) => this.#wasRead(work));
    this.#fates = createBatchWriter({
      write: (fates) => writeJobDispositions(options.db, options.node, fates),
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

  /** Resolves when no job is in flight and every job result is written. */
  async whenIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
  }

  /** Starts as many jobs as the budget allows. */
  dispatch(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    setImmediate(() => {
      this.#isPumpDue = false;
      if (!this.#options.mayStart()) return;
      for (let work = this.#nextInTurn(); work; work = this.#nextInTurn()) this.#giveTurn(work);
    });
  }

  #nextInTurn(): OwnedLane | undefined {
    const used = this.#used.proven + this.#used.unproven;
    if (used >= this.#budget) return undefined;
    const hasRoomForUnproven = this.#used.unproven < Math.max(1, Math.floor(this.#budget / 4));
    this.#isUnprovensTurn = !this.#isUnprovensTurn;
    if (!hasRoomForUnproven) return this.#healthy.shift();
    if (this.#isUnprovensTurn) return this.#unproven.shift() ?? this.#healthy.shift();
    return this.#healthy.shift() ?? this.#unproven.shift();
  }

  #giveTurn(work: OwnedLane): void {
    work.isQueued = false;
    if (!work.isRunnable()) return;
    const part = work.isHealthy ? "proven" : "unproven";
    const job = work.startNextJob();
    this.#used[part] += 1;
    if (!job) {
      this.#reading.set(work, part);
      this.#reader.add(work);
      return;
    }
    const running = this.#perform(work, job).finally(() => {
      this.#running.delete(running);
      this.#used[part] -= 1;
      this.enqueue(work);
      this.dispatch();
    });
    this.#running.add(running);
    this.enqueue(work);
  }

  #wasRead(work: OwnedLane): void {
    const part = this.#reading.get(work);
    this.#reading.delete(work);
    if (part) this.#used[part] -= 1;
    this.enqueue(work);
    this.dispatch();
  }

  async #perform(work: OwnedLane, job: Job): Promise<void> {
    const result = await runJob(this.kind, job, this.#options.log);
    if (result.end === "give_up") {
      const about = {
        lane_kind: this.kind.kind,
        lane_key: job.lane.key,
        job_id: job.id,
        reason: result.reason,
      };
      this.#options.log.warn(about, "a job was abandoned");
    }
    const isHeld = await this.#write(work, dispositionOf(job, result));
    if (result.isHealthy !== undefined && this.kind.slowStart) work.isHealthy = result.isHealthy;
    if (result.pauseLaneMs !== undefined) work.pause(result.pauseLaneMs);
    work.finishJob(job.grp, isRowGone(result) ? undefined : { waitMs: waitAfter(result) });
    if (!isHeld) this.#options.onLost(work);
  }

  // A lost result would run the job twice, so this waits for the database as long as this node owns the lane.
  async #write(work: OwnedLane, disposition: JobDisposition | undefined): Promise<boolean> {
    while (disposition) {
      try {
        return await this.#fates.write(disposition);
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

function isRowGone(result: JobRunResult): boolean {
  if (result.end === "settled") return result.deleted === true;
  return result.end === "done" || result.end === "give_up";
}

function waitAfter(result: JobRunResult): number | undefined {
  if (result.end === "untried") return UNTRIED_WAIT_MS;
  return result.end === "retry" && !result.parkGroup ? millisecondsUntil(result.at) : undefined;
}
