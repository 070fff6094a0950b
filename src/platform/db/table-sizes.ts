import type pg from "pg";

/** Reading takes less than a millisecond. */
const READ_EVERY_MS = 2_000;

/**
 * A text that changes whenever a table reaches 100 kB, 1 MB or 10 MB: a plan for even larger tables is the same. Of
 * partitions only today's count, since the others do not grow.
 */
const SIZES = `
  select string_agg(oid || ':' || floor(log(least(greatest(pg_relation_size(oid), 99999), 1e7))), ' ' order by oid)
    as sizes
  from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
    and (not relispartition or relname like '%' || to_char(now() at time zone 'UTC', 'YYYYMMDD'))`;

/** How large the tables of a database are, roughly and as of a few seconds ago. */
export class TableSizes {
  readonly #pool: pg.Pool;
  #current: string | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #isReading = false;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  get current(): string | undefined {
    return this.#current;
  }

  /** Reads them in the background, unless that was done just now. */
  refresh(): void {
    if (!this.#isReading && performance.now() - this.#readAt > READ_EVERY_MS) void this.#read();
  }

  /** On a connection of its own, since a locked table would block it. */
  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      const { rows } = await this.#pool.query<{ sizes: string }>(SIZES);
      this.#current = rows[0]?.sizes;
    } catch {
      // The database is unavailable, or a table is locked: the next read tells.
    }
    this.#readAt = performance.now();
    this.#isReading = false;
  }
}
