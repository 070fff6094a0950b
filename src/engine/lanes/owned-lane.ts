import { performance } from "node:perf_hooks";
import type { AddedJob, FetchJobsQuery, JobRow } from "../job-store.ts";
import type { Job, Lane, LaneKind } from "./lane-kind.ts";

/** Every tenth dispatch of a lane goes to its lowest priority. */
const LOWEST_EVERY = 10;
/** A lane with unread jobs reserves places only while more than one in so many slots is free. */
const RESERVED_PART = 4;

/** What this node caches of a lane that it owns. After a take-over the rows restore all of it. */
export class OwnedLane {
  readonly lane: Lane;
  readonly kind: LaneKind;
  /** Whether the lane is in its dispatcher's queue. */
  isQueued = false;
  /** `onClaimed` has resolved. */
  isOpen = false;
  isClosed = false;
  isHealthy: boolean;
  timer: { at: number; handle: NodeJS.Timeout } | undefined;
  readonly #busy = new Set<string>();
  /** Groups whose head is not due, with the time of their next check. */
  readonly #waiting = new Map<string, number>();
  /** Rows read but not started: of each group an unbroken run from its head, all of them due. */
  #ahead: JobRow[] = [];
  /** A job with a larger id has not been read. */
  #lastReadId = 0;
  #only: ReadonlySet<string> | null = null;
  /** Whether a read may return rows of groups that are neither busy, waiting nor ahead. */
  #mayHaveMore = true;
  /** Groups that may have rows which the last read skipped or this node dropped. */
  #unread = new Set<string>();
  /** Groups started since the current read was sent: the read is outdated for them. */
  #reading: Set<string> | undefined;
  #isReadingStale = false;
  #isReadingLowest = false;
  #dispatched = 0;
  #pausedUntil = 0;
  #nextDueAt = Number.POSITIVE_INFINITY;
  #whenIdle: (() => void)[] = [];

  constructor(lane: Lane, kind: LaneKind) {
    this.lane = lane;
    this.kind = kind;
    this.isHealthy = !kind.slowStart;
  }

  /** Whether this lane can start a job or needs a read. */
  isRunnable(): boolean {
    if (!this.isOpen || this.isClosed || this.#slots() <= 0) return false;
    return this.needsFetch() || this.#candidate() !== undefined;
  }

  needsFetch(): boolean {
    return this.#mayHaveMore && this.#reading === undefined && this.#allowed()?.size !== 0;
  }

  /** Returns the next job and occupies its slot and group. */
  startNextJob(): Job | undefined {
    const row = this.#candidate();
    if (!row) return undefined;
    this.#dispatched += 1;
    this.#busy.add(row.grp);
    this.#reading?.add(row.grp);
    this.#ahead = this.#ahead.filter((one) => one !== row);
    // Another row may be inserted before the next rows of this group, unless the kind rules that out.
    if (!this.kind.prefetch && this.#dropGroup(row.grp)) this.#unread.add(row.grp);
    return toJob(row, this.lane);
  }

  /**
   * Occupies a slot and this group for a job that would start at once; false if the job must wait. Jobs that may
   * not have been read yet keep a quarter of the slots.
   */
  reserve(grp: string): boolean {
    const kept = this.#isComplete() ? 0 : this.kind.laneConcurrency / RESERVED_PART;
    const isStartable = this.isOpen && !this.isClosed && this.#slots() > kept;
    const isNext = this.#pausedUntil === 0 && this.#ahead.length === 0 && (this.#only?.has(grp) ?? true);
    if (!isStartable || !isNext || this.#busy.has(grp) || this.#waiting.has(grp)) return false;
    this.#dispatched += 1;
    this.#busy.add(grp);
    this.#reading?.add(grp);
    return true;
  }

  /** A reserved job, once it is committed. */
  toReservedJob(job: AddedJob): Job {
    return toJob(toRow(job), this.lane);
  }

  /**
   * Frees slot and group. `again`: the row may still exist; with `waitMs`, its group waits that long. Without it
   * the lane reads only if the group may have further rows.
   */
  finishJob(grp: string, again?: { waitMs?: number }): void {
    this.#busy.delete(grp);
    if (again) this.#dropGroup(grp);
    if (again?.waitMs !== undefined) this.#wait(grp, performance.now() + again.waitMs);
    else if (again || this.#isUnread(grp)) this.#mayHaveMore = true;
    if (this.#busy.size === 0) for (const report of this.#whenIdle.splice(0)) report();
  }

  isIdle(): boolean {
    return this.#busy.size === 0;
  }

  /** Resolves when no job of the lane is in flight. */
  async whenIdle(): Promise<void> {
    if (!this.isIdle()) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** 0 ends a pause. */
  pause(ms: number): void {
    if (ms > 0) this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
    else this.#endPause();
  }

  /** There may be new rows. With `changed`, waiting rows changed too, and a pause ends. */
  wake(changed = false): void {
    this.#mayHaveMore = true;
    if (!this.kind.prefetch) this.#ahead = [];
    if (!changed) return;
    this.#pausedUntil = 0;
    this.#remove();
  }

  /**
   * Takes a job that was just committed, so that it is not read back. A lane that has other jobs to read, or that
   * is paused, reads it with them: it must not start before them.
   */
  add(job: AddedJob): void {
    if (this.#isNext(job)) this.#ahead = [...this.#ahead, toRow(job)].sort(byOrder);
    else if (this.#busy.has(job.grp) || this.#waiting.has(job.grp)) this.#unread.add(job.grp);
    else this.wake();
  }

  limitToGroups(only: readonly string[] | null): void {
    this.#only = only && new Set(only);
    this.#remove();
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer?.handle);
    this.#ahead = [];
  }

  /** Begins a read, which ends with `fetched` or `fetchFailed`. */
  beginFetch(): FetchJobsQuery {
    const free = this.#slots();
    const isPaused = this.#isPaused();
    // Rows of the lowest priority are not read again during a pause.
    if (!isPaused) this.#ahead = this.#ahead.filter((row) => !row.lowest);
    const limit = this.#ahead.length === 0 ? Math.max(this.kind.prefetch ?? 0, free) : free;
    const ahead = this.#ahead.map((row) => row.grp);
    const allowed = this.#allowed();
    this.#reading = new Set();
    this.#isReadingStale = false;
    this.#mayHaveMore = false;
    const lowest = (this.#dispatched % LOWEST_EVERY) + limit >= LOWEST_EVERY;
    this.#isReadingLowest = lowest && !isPaused;
    this.#unread = new Set([...this.#busy, ...this.#waiting.keys(), ...ahead]);
    return {
      lane: this.lane.id,
      limit,
      skip: [...this.#unread],
      only: allowed && [...allowed],
      lowest,
    };
  }

  fetched(rows: readonly JobRow[], limit: number): void {
    const started = this.#reading ?? new Set();
    this.#reading = undefined;
    this.#isReadingLowest = false;
    this.#lastReadId = Math.max(this.#lastReadId, ...rows.map((row) => row.id));
    if (this.#isReadingStale) {
      this.#mayHaveMore = true;
      return;
    }
    if (rows.filter((row) => !row.lowest).length >= limit) this.#mayHaveMore = true;
    const known = new Set(this.#ahead.map((row) => row.id));
    const cut = new Set<string>();
    for (const row of [...rows].sort(byOrder)) {
      if (started.has(row.grp)) this.#mayHaveMore = true;
      else if (!known.has(row.id) && !cut.has(row.grp)) this.#add(row, cut);
      known.add(row.id);
    }
    this.#ahead.sort(byOrder);
  }

  fetchFailed(): void {
    this.#reading = undefined;
    this.#isReadingLowest = false;
    this.#mayHaveMore = true;
  }

  /** Whether to poll the database (`ask`), read rows (`read`), or do nothing. */
  nextPollAction(): "nothing" | "ask" | "read" {
    const isAllowed = this.isOpen && !this.isClosed && this.#allowed()?.size !== 0;
    if (!isAllowed || this.#mayHaveMore || this.#reading) return "nothing";
    return this.#waiting.size + this.#busy.size > 0 || this.#isPaused() ? "read" : "ask";
  }

  /** Deletes the waits that have ended. */
  expireWaits(): void {
    const now = performance.now();
    if (this.#pausedUntil > 0 && this.#pausedUntil <= now) this.#endPause();
    if (this.#nextDueAt > now) return;
    this.#nextDueAt = Number.POSITIVE_INFINITY;
    for (const [grp, at] of this.#waiting) {
      if (at <= now) this.#waiting.delete(grp);
      else this.#nextDueAt = Math.min(this.#nextDueAt, at);
    }
    this.#mayHaveMore = true;
  }

  /** The next time at which this lane's state changes without an event. */
  nextChangeAt(): number | undefined {
    const paused = this.#pausedUntil > 0 ? this.#pausedUntil : Number.POSITIVE_INFINITY;
    const at = Math.min(paused, this.#nextDueAt);
    return at === Number.POSITIVE_INFINITY ? undefined : at;
  }

  /** Whether all jobs of the idle groups are ahead. */
  #isComplete(): boolean {
    return !this.#mayHaveMore && this.#reading === undefined && this.#pausedUntil === 0;
  }

  /** Whether the job can be kept ahead: no job that is not must start before it, and it has not started itself. */
  #isNext({ id, grp }: AddedJob): boolean {
    const { prefetch = 0, laneConcurrency } = this.kind;
    if (!this.#isComplete() || this.#ahead.length >= Math.max(prefetch, laneConcurrency)) return false;
    if (this.#waiting.has(grp) || id <= this.#lastReadId) return false;
    const hasOthers = this.#busy.has(grp) || this.#ahead.some((row) => row.grp === grp);
    return !hasOthers || (prefetch > 0 && !this.#unread.has(grp));
  }

  #isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  // Reads during the pause covered only some groups.
  #endPause(): void {
    this.#pausedUntil = 0;
    this.#mayHaveMore = true;
  }

  /** The groups that may run now; null means all. */
  #allowed(): ReadonlySet<string> | null {
    if (!this.#isPaused()) return this.#only;
    const { unpausedGroups = [] } = this.kind;
    return new Set(unpausedGroups.filter((grp) => this.#only?.has(grp) ?? true));
  }

  #remove(): void {
    this.#ahead = [];
    this.#waiting.clear();
    this.#nextDueAt = Number.POSITIVE_INFINITY;
    this.#mayHaveMore = true;
    this.#isReadingStale = true;
  }

  #add(row: JobRow, cut: Set<string>): void {
    if (this.#busy.has(row.grp) || this.#waiting.has(row.grp)) return;
    if (row.wait_ms <= 0) {
      this.#ahead.push(row);
    } else if (this.#ahead.some((one) => one.grp === row.grp)) {
      cut.add(row.grp);
      this.#unread.add(row.grp);
    } else {
      this.#wait(row.grp, performance.now() + row.wait_ms);
    }
  }

  #slots(): number {
    return (this.isHealthy ? this.kind.laneConcurrency : 1) - this.#busy.size;
  }

  #candidate(): JobRow | undefined {
    const isForLowest = this.#dispatched % LOWEST_EVERY === LOWEST_EVERY - 1;
    if (isForLowest && this.#isReadingLowest) return undefined;
    const passed = new Set(this.#busy);
    const allowed = this.#allowed();
    let best: JobRow | undefined;
    for (const row of this.#ahead) {
      // A row read as the lowest priority has unread rows before it.
      if (passed.has(row.grp) || (row.lowest && !isForLowest) || allowed?.has(row.grp) === false) continue;
      passed.add(row.grp);
      if (!best || row.prio > best.prio) best = row;
      if (!isForLowest) break;
    }
    return best;
  }

  #wait(grp: string, until: number): void {
    this.#waiting.set(grp, until);
    this.#nextDueAt = Math.min(this.#nextDueAt, until);
  }

  #isUnread(grp: string): boolean {
    return this.#unread.has(grp) && !this.#ahead.some((row) => row.grp === grp);
  }

  /** Returns whether the group had rows ahead. */
  #dropGroup(grp: string): boolean {
    const count = this.#ahead.length;
    this.#ahead = this.#ahead.filter((row) => row.grp !== grp);
    return this.#ahead.length < count;
  }
}

function byOrder(a: JobRow, b: JobRow): number {
  return a.prio - b.prio || a.pos - b.pos || a.id - b.id;
}

function toRow(job: AddedJob): JobRow {
  return { ...job, attempts: 0, max_attempts: job.max_attempts ?? null, wait_ms: 0, lowest: false };
}

function toJob(row: JobRow, lane: Lane): Job {
  const { id, prio, pos, grp, run_at, attempts, max_attempts, ref } = row;
  return { id, lane, prio, pos, grp, run_at, attempts, max_attempts, ref };
}
