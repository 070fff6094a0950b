import type { Db } from "../../platform/db/database.ts";
import type { DatabaseAvailability } from "../cluster/database-availability.ts";
import { type FetchJobsQuery, fetchJobs, fetchLaneJobs, type JobRow } from "../job-store.ts";
import type { OwnedLane } from "./owned-lane.ts";

const LANES_PER_STATEMENT = 100;
/** A lane with at least this many groups is read by its own statement. */
const MANY_GROUPS = 16;

interface PendingFetch {
  work: OwnedLane;
  order: FetchJobsQuery;
}

/** Reads jobs for many lanes: one statement runs at a time, and lanes that wait meanwhile share the next. */
export class JobFetcher {
  readonly #db: Db;
  readonly #availability: DatabaseAvailability;
  readonly #done: (work: OwnedLane) => void;
  readonly #waiting = new Set<OwnedLane>();
  #long: PendingFetch[] = [];
  #isReading = false;
  #isReadingLong = false;

  /** `done` is called once per added lane, whatever the result. */
  constructor(db: Db, availability: DatabaseAvailability, done: (work: OwnedLane) => void) {
    this.#db = db;
    this.#availability = availability;
    this.#done = done;
  }

  add(work: OwnedLane): void {
    this.#waiting.add(work);
    if (!this.#isReading) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#isReading = true;
    // Lanes that are added in the same tick share the first statement.
    await Promise.resolve();
    while (this.#waiting.size > 0) await this.#readSome();
    this.#isReading = false;
  }

  async #readSome(): Promise<void> {
    const some = [...this.#waiting].slice(0, LANES_PER_STATEMENT);
    for (const work of some) this.#waiting.delete(work);
    const readings = some.map((work) => ({ work, order: work.beginFetch() }));
    const short = readings.filter(({ order }) => order.skip.length < MANY_GROUPS);
    this.#long.push(...readings.filter(({ order }) => order.skip.length >= MANY_GROUPS));
    if (this.#long.length > 0 && !this.#isReadingLong) void this.#drainLong();
    if (short.length > 0) await this.#read(short, (orders) => fetchJobs(this.#db, orders));
  }

  // Runs separately, so that other lanes do not wait for a statement that skips a long backlog.
  async #drainLong(): Promise<void> {
    this.#isReadingLong = true;
    for (let next = this.#long.shift(); next; next = this.#long.shift()) {
      const { order } = next;
      await this.#read([next], () => fetchLaneJobs(this.#db, order));
    }
    this.#isReadingLong = false;
  }

  async #read(
    readings: PendingFetch[],
    read: (orders: FetchJobsQuery[]) => Promise<JobRow[]>,
  ): Promise<void> {
    try {
      const rows = await read(readings.map(({ order }) => order));
      this.#availability.recordSuccess();
      const byLane = new Map(readings.map(({ order }) => [order.lane, [] as JobRow[]]));
      for (const row of rows) byLane.get(row.lane)?.push(row);
      for (const { work, order } of readings) work.fetched(byLane.get(order.lane) ?? [], order.limit);
    } catch (error) {
      for (const { work } of readings) work.fetchFailed();
      await this.#availability.recordFailureAndWait(error);
    }
    for (const { work } of readings) this.#done(work);
  }
}
