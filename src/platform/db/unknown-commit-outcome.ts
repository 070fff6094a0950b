import { type QueryExecutorProvider, sql } from "kysely";
import type pg from "pg";

/** Which process of PostgreSQL had the statement that failed with an error, where that can be told. */
const backends = new WeakMap<Error, string | undefined>();

/** A process id is given again, after a restart in a container very soon. */
const IDENTITY = "concat(pid, ' ', extract(epoch from backend_start))";

/** Remembers what the statements of this connection fail with when it breaks; behind a pooler not whose they were. */
export async function trackBackendProcess(client: pg.ClientBase, isPooled: boolean): Promise<void> {
  const backend = isPooled ? undefined : await readBackend(client);
  // Statements under way fail with the very error that is told here.
  client.on("error", (error) => backends.set(error, backend));
}

async function readBackend(client: pg.ClientBase): Promise<string | undefined> {
  const own = `select ${IDENTITY} as backend from pg_stat_activity where pid = pg_backend_pid()`;
  return (await client.query<{ backend: string }>(own)).rows[0]?.backend;
}

/**
 * Whether a statement that failed so may be carried out all the same: its connection broke, and PostgreSQL goes on with
 * what it has. It does not where no connection was made, or where it refused with a word of its own.
 */
export function isCommitOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A pooler says 08... of its connections as well.
  return backends.has(error) || ("code" in error && /^08...$/.test(String(error.code)));
}

/** Whether nothing can come any more of the statement that failed so: what it has committed is there to be read after. */
export async function isBackendGone(db: QueryExecutorProvider, error: unknown): Promise<boolean> {
  const backend = error instanceof Error ? backends.get(error) : undefined;
  if (backend === undefined) return false;
  const { rows } = await sql`select from pg_stat_activity where ${sql.raw(IDENTITY)} = ${backend}`.execute(
    db,
  );
  return rows.length === 0;
}
