import { type QueryExecutorProvider, sql } from "kysely";
import type pg from "pg";

/** The PostgreSQL process of a failed statement by its error, if known. */
const backends = new WeakMap<Error, string | undefined>();

/** Process ids are reused, soon after a restart in a container, so the start time is included. */
const IDENTITY = "concat(pid, ' ', extract(epoch from backend_start))";

/** Records the backend process for errors of a broken connection. Behind a pooler the process is unknown. */
export async function trackBackendProcess(client: pg.ClientBase, isPooled: boolean): Promise<void> {
  const backend = isPooled ? undefined : await readBackend(client);
  // Running statements fail with this same error object.
  client.on("error", (error) => backends.set(error, backend));
}

async function readBackend(client: pg.ClientBase): Promise<string | undefined> {
  const own = `select ${IDENTITY} as backend from pg_stat_activity where pid = pg_backend_pid()`;
  return (await client.query<{ backend: string }>(own)).rows[0]?.backend;
}

/**
 * Whether a failed statement may still be committed: its connection broke while PostgreSQL may continue it.
 * False if no connection was made or if PostgreSQL itself returned the error.
 */
export function isCommitOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A pooler also reports 08... for its own connections.
  return backends.has(error) || ("code" in error && /^08...$/.test(String(error.code)));
}

/** Whether `isBackendGone` can tell when the backend of the failed statement has ended. */
export function isBackendKnown(error: unknown): boolean {
  return error instanceof Error && backends.get(error) !== undefined;
}

/** Whether the backend of the failed statement has ended: then reads see everything that it committed. */
export async function isBackendGone(db: QueryExecutorProvider, error: unknown): Promise<boolean> {
  const backend = error instanceof Error ? backends.get(error) : undefined;
  if (backend === undefined) return false;
  const { rows } = await sql`select from pg_stat_activity where ${sql.raw(IDENTITY)} = ${backend}`.execute(
    db,
  );
  return rows.length === 0;
}
