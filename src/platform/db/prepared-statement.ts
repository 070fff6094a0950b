import { type PostgresPool, type PostgresPoolClient, sql } from "kysely";
import type pg from "pg";

const MARK = "/* kept */";
/** How far into a statement the mark can stand. */
const MARK_WITHIN = 20;
/** More different texts than there are marked statements: one that varies costs memory on every connection. */
const MOST_TEXTS = 300;
/** Tables grow from nothing to a million rows faster than PostgreSQL counts them, most of all in a new database. */
const PLANS_LAST_MS = { first: 1_000, longest: 10_000 };

/**
 * At the head of a statement that runs for every message: each connection reads and plans it once in a while and not each
 * time, which takes longer than to run it. For statements whose text is always the same and that find rows by their keys.
 */
export const PREPARED_STATEMENT = sql.raw<never>(`${MARK} `);

/**
 * At the end of a select from a list of rows that is given as JSON: PostgreSQL takes any for a hundred rows, and then
 * reads whole tables rather than their indexes.
 */
export function rowCountHint(rows: { readonly length: number }) {
  return sql`limit ${rows.length}`;
}

/** The pool as Kysely wants it, with the plans of marked statements kept. */
export function usePreparedStatements(pool: pg.Pool): PostgresPool {
  const names = new StatementNames();
  const clients = new WeakMap<pg.PoolClient, PreparedStatementClient>();
  return {
    async connect() {
      const client = await pool.connect();
      const keeper = clients.get(client) ?? new PreparedStatementClient(client, names);
      clients.set(client, keeper);
      await keeper.freshen();
      return keeper;
    },
    end: () => pool.end(),
  };
}

/** The names under which connections know the marked statements. */
class StatementNames {
  readonly #names = new Map<string, string>();
  #made = 0;

  of(text: string): string | undefined {
    if (!text.slice(0, MARK_WITHIN).includes(MARK)) return undefined;
    return this.#names.get(text) ?? (this.#names.size < MOST_TEXTS ? this.renew(text) : undefined);
  }

  renew(text: string): string {
    const name = `kept_${++this.#made}`;
    this.#names.set(text, name);
    return name;
  }
}

class PreparedStatementClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #names: StatementNames;
  #plannedAt = performance.now();
  #lastMs = PLANS_LAST_MS.first;
  #hasPlans = false;

  constructor(client: pg.PoolClient, names: StatementNames) {
    this.#client = client;
    this.#names = names;
  }

  query = ((text: string, values: unknown[]) => {
    const name = this.#names.of(text);
    if (name === undefined) return this.#client.query(text, values);
    this.#hasPlans = true;
    return this.#client
      .query({ name, text, values })
      .catch((error: unknown) => this.#again(error, text, values));
  }) as unknown as PostgresPoolClient["query"];

  release(): void {
    this.#client.release();
  }

  async freshen(): Promise<void> {
    if (!this.#hasPlans || performance.now() - this.#plannedAt < this.#lastMs) return;
    this.#plannedAt = performance.now();
    this.#lastMs = Math.min(2 * this.#lastMs, PLANS_LAST_MS.longest);
    // A connection that is gone says so to the statement that it is wanted for.
    await this.#client.query("discard plans").catch(() => {});
  }

  /** The statement did not run: its table has changed since it was planned. In a transaction that is the end of it. */
  async #again(error: unknown, text: string, values: unknown[]): Promise<pg.QueryResult> {
    if (!isStale(error)) throw error;
    this.#names.renew(text);
    return this.#client.query(text, values).catch(() => {
      throw error;
    });
  }
}

/** 0A000: the columns of its result are others now; 26000: somebody made the connection forget it. */
function isStale(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "26000" || (error.code === "0A000" && error.message.includes("cached plan"));
}
