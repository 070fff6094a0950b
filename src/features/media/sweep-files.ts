import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import type { MediaStore } from "../../platform/media/media-store.ts";

const ROWS_AT_ONCE = 500;
const DAY_MS = 86_400_000;
/** Longer than the time between storing a file and referencing it. */
const UNNAMED_AFTER_MS = 3_600_000;
/** Longer than the largest file needs to arrive in the slowest store. */
const UNFINISHED_AFTER_MS = DAY_MS;

export interface SweepFilesOptions {
  db: Db;
  store: MediaStore;
  /** This node: only the owner of a folder deletes its files. */
  node: string;
}

/** Deletes the stored files that no media row references. Safe to run concurrently. */
export async function sweepFiles({ db, store, node }: SweepFilesOptions): Promise<void> {
  const ofNode = store.isShared ? sql`node is null` : sql`node = ${node}`;
  for (let marked = ROWS_AT_ONCE; marked >= ROWS_AT_ONCE; ) marked = await markUnreferenced(db, ofNode);
  const { rows } = await sql<{ id: number; name: string }>`
    select id, name from blob where ${ofNode} and (status = 'deleting'
      or status = 'uploading' and created_at < now() - ${UNFINISHED_AFTER_MS} * interval '1 millisecond')`.execute(
    db,
  );
  for (const { id, name } of rows) {
    await store.remove(name);
    await db.deleteFrom("blob").where("id", "=", id).where("status", "<>", "stored").execute();
  }
}

/**
 * Marks files for deletion, which are then never referenced again. A new reference locks the file's row, so
 * the second statement sees all references to the rows that the first one has locked.
 */
async function markUnreferenced(db: Db, ofNode: ReturnType<typeof sql>): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: number }>`
      select id from blob b where ${ofNode} and status = 'stored'
        and created_at < now() - ${UNNAMED_AFTER_MS} * interval '1 millisecond'
        and not exists (select from media where blob = b.id)
      order by id limit ${ROWS_AT_ONCE} for update skip locked`.execute(trx);
    if (rows.length === 0) return 0;
    await sql`
      update blob b set status = 'deleting'
      where id = any(${rows.map(({ id }) => id)}::bigint[]) and not exists (select from media where blob = b.id)`.execute(
      trx,
    );
    return rows.length;
  });
}

const SWEEP_EVERY_MS = 600_000;

/** Sweeps periodically while the process runs; the next sweep repeats a failed one. */
export function startSweeping(
  options: SweepFilesOptions,
  onError: (error: unknown) => void,
): { now(): Promise<void>; stop(): Promise<void> } {
  let sweeping = Promise.resolve();
  const sweep = (): Promise<void> => {
    sweeping = sweeping.then(() => sweepFiles(options)).catch(onError);
    return sweeping;
  };
  const timer = setInterval(() => void sweep(), SWEEP_EVERY_MS);
  return {
    now: sweep,
    async stop() {
      clearInterval(timer);
      await sweeping;
    },
  };
}
