import { type PostgresPool, type PostgresPoolClient, sql } from "kysely";
import type pg from "pg";

const MARKER = "/* kept */";
/** Longest offset of the mark in a statement. */
const MARK_WITHIN = 20;
/**
 * More than the number of marked statements; a statement whose text varies costs memory on every connection.
 */
const MOST_TEXTS = 300;
/** Plans expire because tables can grow to a million rows before PostgreSQL updates its statistics. */
const PLANS_LAST_MS = { first: 1_000, longest: 10_000 };

/**
 * Marks a statement that runs for every message: each connection prepares it now and then instead of every
 * time, because planning takes longer than running. Use it only for fixed text that finds rows by key.
 */
export const PREPARED_STATEMENT = sql.raw<never>(`${MARKER} `);

/**
 * Append to a select from a list of rows given as JSON. PostgreSQL assumes a hundred rows in any such list
 * and would then scan whole tables instead of using their indexes.
 */
export function rowCountHint(rows: { readonly length: number }) {
  return sql`limit ${rows.length}`;
}

/** Wraps the pool for Kysely and prepares the marked statements. */
export function usePreparedStatements(pool: pg.Pool): PostgresPool {
  const names = new StatementNames();
  const clients = new WeakMap<pg.PoolClient, PreparedStatementClient>();
  return {
    async connect() {
      const client = await pool.connect();
      const prepared = clients.get(client) ?? new PreparedStatementClient(client, names);
      clients.set(client, prepared);
      await prepared.freshen();
      return prepared;
    },
    end: () => pool.end(),
  };
}

/** The names of the marked statements on their connections. */
class StatementNames {
  readonly #names = new Map<string, string>();
  #made = 0;

  of(text: string): string | undefined {
    if (!text.slice(0, MARK_WITHIN).includes(MARKER)) return undefined;
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
    // If the connection is lost, the statement itself reports that.
    await this.#client.query("discard plans").catch(() => {});
  }

  /**
   * Retries a statement that did not run because its table has changed. In a transaction the retry fails too.
   */
  async #again(error: unknown, text: string, values: unknown[]): Promise<pg.QueryResult> {
    if (!isStale(error)) throw error;
    this.#names.renew(text);
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
