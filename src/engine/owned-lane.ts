import { performance } from "node:perf_hooks";
import type { FetchJobsQuery, JobRow } from "./job-store.ts";
import type { Job, Lane, LaneKind } from "./lane-kind.ts";

/** Every tenth pick of a lane goes to its lowest priority. */
const LOWEST_EVERY = 10;

/** What this node knows in memory of one lane that it owns. After a take-over the rows tell it all again. */
export class OwnedLane {
  readonly lane: Lane;
  readonly kind: LaneKind;
  /** Stands in the queue of its picker. */
  isQueued = false;
  /** `taken` has resolved. */
  isOpen = false;
  isClosed = false;
  isProven: boolean;
  timer: { at: number; handle: NodeJS.Timeout } | undefined;
  readonly #busy = new Set<string>();
  /** Groups whose head is not due, with the moment at which they are looked at again. */
  readonly #waiting = new Map<string, number>();
  /** Read and not started: of each group an unbroken run of rows from its head on, all of them due. */
  #ahead: JobRow[] = [];
  #only: ReadonlySet<string> | null = null;
  /** There may be rows that a reading would bring. */
  #mayHaveMore = true;
  /** Groups that were started since the reading under way was sent: what it says of them is old. */
  #reading: Set<string> | undefined;
  #isReadingStale = false;
  #isReadingLowest = false;
  #picks = 0;
  #pausedUntil = 0;
  #nextDueAt = Number.POSITIVE_INFINITY;
  #whenIdle: (() => void)[] = [];

  constructor(lane: Lane, kind: LaneKind) {
    this.lane = lane;
    this.kind = kind;
    this.isProven = !kind.probation;
  }

  /** Whether a turn of this lane can start a job or needs a reading. */
  canTurn(): boolean {
    if (!this.isOpen || this.isClosed || this.#slots() <= 0) return false;
    return this.wantsReading() || this.#candidate() !== undefined;
  }

  wantsReading(): boolean {
    return this.#mayHaveMore && this.#reading === undefined && this.#allowed()?.size !== 0;
  }

  /** The next job, whose slot and group are taken from now on. */
  start(): Job | undefined {
    const row = this.#candidate();
    if (!row) return undefined;
    this.#picks += 1;
    this.#busy.add(row.grp);
    this.#reading?.add(row.grp);
    this.#ahead = this.#ahead.filter((one) => one !== row);
    // What stands behind in the same group may be overtaken until its turn, unless the kind rules that out.
    if (!this.kind.lookahead) this.#dropGroup(row.grp);
    return toJob(row, this.lane);
  }

  /** Frees slot and group. `again`: the row may still be there; with a wait its group is left alone until then. */
  finish(grp: string, again?: { waitMs?: number }): void {
    this.#busy.delete(grp);
    if (again) this.#dropGroup(grp);
    if (again?.waitMs !== undefined) this.#wait(grp, performance.now() + again.waitMs);
    else if (!this.#ahead.some((row) => row.grp === grp)) this.#mayHaveMore = true;
    if (this.#busy.size === 0) for (const tell of this.#whenIdle.splice(0)) tell();
  }

  isIdle(): boolean {
    return this.#busy.size === 0;
  }

  /** Resolves when no job of the lane is in flight. */
  async idle(): Promise<void> {
    if (!this.isIdle()) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** 0 ends a pause. */
  pause(ms: number): void {
    if (ms > 0) this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
    else this.#endPause();
  }

  /** There may be new rows; with `changed`, waiting rows were changed too, and a pause is over. */
  wake(changed = false): void {
    this.#mayHaveMore = true;
    if (!this.kind.lookahead) this.#ahead = [];
    if (!changed) return;
    this.#pausedUntil = 0;
    this.#forget();
  }

  openGroups(only: readonly string[] | null): void {
    this.#only = only && new Set(only);
    this.#forget();
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer?.handle);
    this.#ahead = [];
  }

  /** Begins a reading; ends with `took` or `readingFailed`. */
  beginReading(): FetchJobsQuery {
    const free = this.#slots();
    const isPaused = this.#isPaused();
    // During a pause it is not read anew.
    if (!isPaused) this.#ahead = this.#ahead.filter((row) => !row.lowest);
    const limit = this.#ahead.length === 0 ? Math.max(this.kind.lookahead ?? 0, free) : free;
    const ahead = new Set(this.#ahead.map((row) => row.grp));
    const allowed = this.#allowed();
    this.#reading = new Set();
    this.#isReadingStale = false;
    this.#mayHaveMore = false;
    const lowest = (this.#picks % LOWEST_EVERY) + limit >= LOWEST_EVERY;
    this.#isReadingLowest = lowest && !isPaused;
    return {
      lane: this.lane.id,
      limit,
      skip: [...new Set([...this.#busy, ...this.#waiting.keys(), ...ahead])],
      only: allowed && [...allowed],
      lowest,
    };
  }

  took(rows: readonly JobRow[], limit: number): void {
    const started = this.#reading ?? new Set();
    this.#reading = undefined;
    this.#isReadingLowest = false;
    if (this.#isReadingStale) {
      this.#mayHaveMore = true;
      return;
    }
    if (rows.filter((row) => !row.lowest).length >= limit) this.#mayHaveMore = true;
    const known = new Set(this.#ahead.map((row) => row.id));
    const cut = new Set<string>();
    for (const row of [...rows].sort(byOrder)) {
      if (started.has(row.grp)) this.#mayHaveMore = true;
      else if (!known.has(row.id) && !cut.has(row.grp)) this.#keep(row, cut);
      known.add(row.id);
    }
    this.#ahead.sort(byOrder);
  }

  readingFailed(): void {
    this.#reading = undefined;
    this.#isReadingLowest = false;
    this.#mayHaveMore = true;
  }

  /** Whether the poll should ask the database: `ask`, or whether a reading would know better: `read`. */
  pollNeeds(): "nothing" | "ask" | "read" {
    const isIdle = this.isOpen && !this.isClosed && this.#slots() > 0 && this.#allowed()?.size !== 0;
    if (!isIdle || this.#mayHaveMore || this.#reading) return "nothing";
    return this.#waiting.size + this.#busy.size > 0 || this.#isPaused() ? "read" : "ask";
  }

  /** Forgets the waits that are over. */
  expire(): void {
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

  /** The moment at which time alone changes what this lane can do. */
  changesAt(): number | undefined {
    const paused = this.#pausedUntil > 0 ? this.#pausedUntil : Number.POSITIVE_INFINITY;
    const at = Math.min(paused, this.#nextDueAt);
    return at === Number.POSITIVE_INFINITY ? undefined : at;
  }

  #isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  // What was read meanwhile was of some groups only.
  #endPause(): void {
    this.#pausedUntil = 0;
    this.#mayHaveMore = true;
  }

  /** The groups that may run now; null: all. */
  #allowed(): ReadonlySet<string> | null {
    if (!this.#isPaused()) return this.#only;
    const { unpaused = [] } = this.kind;
    return new Set(unpaused.filter((grp) => this.#only?.has(grp) ?? true));
  }

  #forget(): void {
    this.#ahead = [];
    this.#waiting.clear();
    this.#nextDueAt = Number.POSITIVE_INFINITY;
    this.#mayHaveMore = true;
    this.#isReadingStale = true;
  }

  #keep(row: JobRow, cut: Set<string>): void {
    if (this.#busy.has(row.grp) || this.#waiting.has(row.grp)) return;
    if (row.wait_ms <= 0) {
      this.#ahead.push(row);
    } else if (this.#ahead.some((one) => one.grp === row.grp)) {
      cut.add(row.grp);
    } else {
      this.#wait(row.grp, performance.now() + row.wait_ms);
    }
  }

  #slots(): number {
    return (this.isProven ? this.kind.width : 1) - this.#busy.size;
  }

  #candidate(): JobRow | undefined {
    const isForLowest = this.#picks % LOWEST_EVERY === LOWEST_EVERY - 1;
    if (isForLowest && this.#isReadingLowest) return undefined;
    const passed = new Set(this.#busy);
    const allowed = this.#allowed();
    let best: JobRow | undefined;
    for (const row of this.#ahead) {
      // A row that was read as the lowest stands behind others which were not read.
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

  #dropGroup(grp: string): void {
    this.#ahead = this.#ahead.filter((row) => row.grp !== grp);
  }
}

function byOrder(a: JobRow, b: JobRow): number {
  return a.prio - b.prio || a.pos - b.pos || a.id - b.id;
}

function toJob(row: JobRow, lane: Lane): Job {
  const { id, prio, pos, grp, run_at, attempts, max_attempts, ref } = row;
  return { id, lane, prio, pos, grp, run_at, attempts, max_attempts, ref };
}
