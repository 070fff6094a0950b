import { type PostgresPool, type PostgresPoolClient, sql } from "kysely";
import { LRUCache } from "lru-cache";
import type pg from "pg";
import { ConnectionTurns, type Turn } from "./connection-turns.ts";
import { type BatchedStatement, executeBatch } from "./execute-batch.ts";

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

const MARKER = "/* kept */";
const LAST = `${MARKER} /* last */`;
/** Longest offset of the mark in a statement. */
const MARK_WITHIN = 20;
/** The texts used last have names. Each name costs memory on every connection that has used it. */
const MOST_TEXTS = 600;

/**
 * Marks a statement that runs for every message: each connection plans it once and for any values, because planning
 * takes longer than running. Use it only for fixed text that finds rows by key, with a `rowCountHint` on each list.
 */
export const PREPARED_STATEMENT = sql.raw<never>(`${MARKER} `);

/**
 * A `PREPARED_STATEMENT` that ends its transaction: the commit travels with it. A later statement of the transaction
 * throws.
 */
export const LAST_STATEMENT = sql.raw<never>(`${LAST} `);

/**
 * Append to a select from a list of rows. PostgreSQL assumes ten or a hundred rows in any such list, and would
 * scan whole tables instead of using their indexes. The count is rounded up to a power of ten and is part of the
 * text: so a plan for any values costs the same as one for these, and PostgreSQL keeps it.
 */
export function rowCountHint(rows: { readonly length: number }) {
  return sql`limit ${sql.lit(10 ** Math.ceil(Math.log10(Math.max(1, rows.length))))}`;
}

/** Wraps the pool for Kysely and prepares the marked statements. */
export function usePreparedStatements(pool: pg.Pool): PostgresPool {
  const names = new StatementNames();
  const sizes = new TableSizes(pool);
  const turns = new ConnectionTurns();
  const clients = new WeakMap<pg.PoolClient, PreparedStatementClient>();
  return {
    async connect() {
      const turn = await turns.begin();
      try {
        const client = await pool.connect();
        const prepared = clients.get(client) ?? new PreparedStatementClient(client, { names, sizes, turns });
        clients.set(client, prepared);
        await prepared.take(turn);
        return prepared;
      } catch (error) {
        turns.end(turn);
        throw error;
      }
    },
    end: () => pool.end(),
  };
}

/** The names of the marked statements on their connections. */
class StatementNames {
  readonly #names = new LRUCache<string, string>({ max: MOST_TEXTS });
  #made = 0;

  of(text: string): string | undefined {
    if (!text.slice(0, MARK_WITHIN).includes(MARKER)) return undefined;
    return this.#names.get(text) ?? this.renew(text);
  }

  renew(text: string): string {
    const name = `kept_${++this.#made}`;
    this.#names.set(text, name);
    return name;
  }
}

/** `beginning`: not yet in PostgreSQL. `committed`: with its last statement, but not yet by the caller. */
type TransactionState = "beginning" | "open" | "committed" | undefined;

const BEGIN = { text: "begin" };
const COMMIT = { text: "commit" };
/** `auto` plans the first five runs of a statement for their values, and any other statement at each run. */
type PlanCacheMode = "auto" | "force_generic_plan";
const NOTHING: pg.QueryResult = { command: "", rowCount: null, oid: 0, fields: [], rows: [] };

/** What the connections of a pool share. */
interface PoolState {
  names: StatementNames;
  sizes: TableSizes;
  turns: ConnectionTurns;
}

export class PreparedStatementClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #pool: PoolState;
  /** The sizes of the tables for which the plans were made. */
  #plannedFor: string | undefined;
  #hasPlans = false;
  /** Undefined: a transaction that changed it may have been rolled back. */
  #planCacheMode: PlanCacheMode | undefined = "auto";
  #transaction: TransactionState;
  #turn: Turn | undefined;

  constructor(client: pg.PoolClient, pool: PoolState) {
    this.#client = client;
    this.#pool = pool;
  }

  /** Of the process of PostgreSQL behind the connection. */
  get processId(): unknown {
    return Reflect.get(this.#client, "processID");
  }

  query = ((text: string, values: unknown[]) =>
    this.#execute(text, values)) as unknown as PostgresPoolClient["query"];

  /**
   * `begin` travels with the first statement, so that a transaction without statements sends nothing. `commit`
   * travels with a statement that is marked as the last.
   */
  async #execute(text: string, values: unknown[]): Promise<pg.QueryResult> {
    const before = this.#transaction;
    const isEnd = text === "commit" || text === "rollback";
    if (text === "begin") this.#transaction = "beginning";
    else if (isEnd) this.#transaction = undefined;
    else if (before === "beginning") this.#transaction = "open";
    if (before === "committed" && text !== "commit")
      throw new Error(`The transaction was committed with its last statement, before: ${text}`);
    if (text === "begin" || before === "committed" || (before === "beginning" && isEnd)) return NOTHING;
    return this.#send(text, values, before);
  }

  async #send(text: string, values: unknown[], before: TransactionState): Promise<pg.QueryResult> {
    const name = this.#pool.names.of(text);
    this.#hasPlans ||= name !== undefined;
    const isLast = name !== undefined && before !== undefined && text.startsWith(LAST);
    const first = [...(before === "beginning" ? [BEGIN] : []), ...this.#choosePlanCacheMode(name, values)];
    const last = isLast ? [COMMIT] : [];
    try {
      const results = await this.#run([...first, { name, text, values }, ...last]);
      if (isLast) this.#transaction = "committed";
      if (text === "rollback") this.#planCacheMode = undefined;
      return results[first.length] ?? NOTHING;
    } catch (error) {
      this.#planCacheMode = undefined;
      if (name === undefined) throw error;
      return this.#again(error, text, values);
    }
  }

  /** The setting travels with the statement that needs it. Without values, a statement has but one plan. */
  #choosePlanCacheMode(name: string | undefined, values: unknown[]): BatchedStatement[] {
    const mode = name === undefined ? "auto" : "force_generic_plan";
    if (mode === this.#planCacheMode || values.length === 0) return [];
    this.#planCacheMode = mode;
    return [{ text: `set plan_cache_mode = ${mode}` }];
  }

  async #run(statements: BatchedStatement[]): Promise<pg.QueryResult[]> {
    const [only] = statements;
    if (only === undefined || statements.length > 1) return executeBatch(this.#client, statements);
    return [await this.#client.query(only)];
  }

  /** `destroy`: closes the connection in place of keeping it for others. */
  release(destroy = false): void {
    this.#transaction = undefined;
    this.#client.release(destroy);
    if (this.#turn) this.#pool.turns.end(this.#turn);
  }

  async take(turn: Turn): Promise<void> {
    this.#turn = turn;
    await this.#freshen();
  }

  /** Discards the plans if tables have grown since: a plan for a small table reads the whole table. */
  async #freshen(): Promise<void> {
    if (this.#hasPlans) this.#pool.sizes.refresh();
    if (this.#plannedFor === this.#pool.sizes.current) return;
    this.#plannedFor = this.#pool.sizes.current;
    // If the connection is lost, the statement itself reports that.
    if (this.#hasPlans) await this.#client.query("discard plans").catch(() => {});
  }

  /**
   * Retries a statement that did not run because its table has changed. In a transaction the retry fails too.
   */
  async #again(error: unknown, text: string, values: unknown[]): Promise<pg.QueryResult> {
    if (!isStale(error)) throw error;
    this.#pool.names.renew(text);
    return this.#client.query(text, values).catch(() => {
      throw error;
    });
  }
}

/** 0A000: the columns of the result have changed; 26000: the prepared statement no longer exists. */
function isStale(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "26000" || (error.code === "0A000" && error.message.includes("cached plan"));
}

/** How large the tables of a database are, roughly and as of a few seconds ago. */
class TableSizes {
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
