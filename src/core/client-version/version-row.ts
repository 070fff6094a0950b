import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { BUILT_IN_REVISION, findListedProblem, findRevisionProblem } from "./find-revision.ts";

/** The stored state of the client version, which all nodes share. */
export interface VersionRow {
  revision: number | null;
  found_at: Date | null;
  searched_at: Date | null;
  problem: string | null;
  expires_at: Date | null;
  expires_revision: number | null;
  listed_revision: number | null;
  /** A node has requested a search that has not run yet. */
  is_search_requested: boolean;
}

const NOTHING: VersionRow = {
  revision: null,
  found_at: null,
  searched_at: null,
  problem: null,
  expires_at: null,
  expires_revision: null,
  listed_revision: null,
  is_search_requested: false,
};

export async function readVersionRow(db: Db): Promise<VersionRow> {
  const row = await db
    .selectFrom("client_version")
    .select([
      "revision",
      "found_at",
      "searched_at",
      "problem",
      "expires_at",
      "expires_revision",
      "listed_revision",
    ])
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
      revision = greatest(current.revision, excluded.revision), found_at = now(), searched_at = now(), problem = null,
      listed_revision = null`.execute(db);
}

export async function saveSearchProblem(db: Db, problem: string): Promise<void> {
  await sql`
    insert into client_version (searched_at, problem) values (now(), ${problem})
    on conflict (id) do update set searched_at = now(), problem = excluded.problem`.execute(db);
}

/** Stores when WhatsApp intends to refuse a revision; a time that is already stored for it only moves forward. */
export async function saveExpiration(db: Db, revision: number, at: Date): Promise<void> {
  await sql`
    insert into client_version as held (expires_revision, expires_at) values (${revision}, ${at})
    on conflict (id) do update set expires_revision = excluded.expires_revision, expires_at = excluded.expires_at,
      warned_days = case when held.expires_revision = excluded.expires_revision then held.warned_days end,
      warned_instance_id = case when held.expires_revision = excluded.expires_revision then held.warned_instance_id end
    where held.expires_revision is distinct from excluded.expires_revision or held.expires_at is null
      or held.expires_at > excluded.expires_at`.execute(db);
}

/** WhatsApp no longer intends to refuse the revision. */
export async function withdrawExpiration(db: Db, revision: number): Promise<void> {
  await sql`update client_version set expires_at = null where expires_revision = ${revision}`.execute(db);
}

/** A newer revision that others name makes rejected sessions connect again, as a found one does. */
export async function saveListedRevision(db: Db, revision: number): Promise<void> {
  await sql`
    update client_version set listed_revision = ${revision}, changed_at = now()
    where listed_revision is distinct from ${revision}`.execute(db);
}

/** The revision that others name, if it is newer than WhatsApp's own last one, which could not be read since. */
export function listedRevision(row: VersionRow): number | undefined {
  const { listed_revision } = row;
  if (listed_revision === null || findListedProblem(listed_revision) !== undefined) return undefined;
  return listed_revision > (usableRevision(row) ?? BUILT_IN_REVISION) ? listed_revision : undefined;
}

/** The stored revision, if this version of Waygate can use it. */
export function usableRevision({ revision }: VersionRow): number | undefined {
  return revision !== null && findRevisionProblem(revision, null) === undefined ? revision : undefined;
}
