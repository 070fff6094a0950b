import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { findRevisionProblem } from "./find-revision.ts";

/** The stored state of the client version, which all nodes share. */
export interface VersionRow {
  revision: number | null;
  found_at: Date | null;
  searched_at: Date | null;
  problem: string | null;
  /** A node has requested a search that has not run yet. */
  is_search_requested: boolean;
}

const NOTHING: VersionRow = {
  revision: null,
  found_at: null,
  searched_at: null,
  problem: null,
  is_search_requested: false,
};

export async function readVersionRow(db: Db): Promise<VersionRow> {
  const row = await db
    .selectFrom("client_version")
    .select(["revision", "found_at", "searched_at", "problem"])
    .select(
      sql<boolean>`requested_at is not null and requested_at > coalesce(searched_at, '-infinity')`.as(
        "is_search_requested",
      ),
    )
    .executeTakeFirst();
  return row ?? NOTHING;
}

/** Requests a search, unless one ran in the last `minIntervalMs`. */
export async function requestSearch(db: Db, minIntervalMs: number): Promise<void> {
  await sql`
    insert into client_version (requested_at) values (now())
    on conflict (id) do update set requested_at = now()
    where client_version.searched_at is null
      or client_version.searched_at < now() - ${minIntervalMs}::float8 * interval '1 millisecond'`.execute(
    db,
  );
}

/** The revision never decreases, whichever node writes last. */
export async function saveRevision(db: Db, revision: number): Promise<void> {
  await sql`
    insert into client_version as current (revision, found_at, changed_at, searched_at) values (${revision}, now(), now(), now())
    on conflict (id) do update set
      changed_at = case when current.revision >= excluded.revision then current.changed_at else now() end,
      revision = greatest(current.revision, excluded.revision), found_at = now(), searched_at = now(), problem = null`.execute(
    db,
  );
}

export async function saveSearchProblem(db: Db, problem: string): Promise<void> {
  await sql`
    insert into client_version (searched_at, problem) values (now(), ${problem})
    on conflict (id) do update set searched_at = now(), problem = excluded.problem`.execute(db);
}

/** The stored revision, if this version of Waygate can use it. */
export function usableRevision({ revision }: VersionRow): number | undefined {
  return revision !== null && findRevisionProblem(revision, null) === undefined ? revision : undefined;
}
