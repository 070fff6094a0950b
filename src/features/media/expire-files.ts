import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import type { MediaStore } from "../../platform/media/media-store.ts";

const ROWS_AT_ONCE = 500;
const DAY_MS = 86_400_000;
/** Longer than it takes from storing a file to naming it. */
const UNNAMED_AFTER_MS = 3_600_000;
/** Longer than the largest file takes to arrive in the slowest store. */
const UNFINISHED_AFTER_MS = DAY_MS;

/** Lets go of files whose time is over: as the instance says, else its plan, else `defaultMs`. */
export async function expireFiles(db: Db, defaultMs: number): Promise<void> {
  const days = sql`coalesce((i.settings ->> 'media_retention_days')::float8,
    (p.features ->> 'media_retention_days')::float8, ${defaultMs / DAY_MS})`;
  for (let expired = ROWS_AT_ONCE; expired >= ROWS_AT_ONCE; ) {
    const { numAffectedRows } = await sql`
      update media set status = 'expired', reason = 'retention', blob = null
      where id in (
        select old.id from instance i join account a on a.id = i.account_id join plan p on p.id = a.plan_id
        cross join lateral (
          select id from media where instance_id = i.id and status = 'ready'
            and ready_at < now() - ${days} * interval '1 day'
          order by ready_at limit ${ROWS_AT_ONCE}
        ) old
        limit ${ROWS_AT_ONCE}
      )`.execute(db);
    expired = Number(numAffectedRows ?? 0);
  }
}

export interface SweepFilesOptions {
  db: Db;
  store: MediaStore;
  /** This node: files in the folders of others are theirs to remove. */
  node: string;
}

/** Removes the stored files that no media row names any more. Done twice at once it does no harm. */
export async function sweepFiles({ db, store, node }: SweepFilesOptions): Promise<void> {
  const mine = store.isShared ? sql`node is null` : sql`node = ${node}`;
  for (let doomed = ROWS_AT_ONCE; doomed >= ROWS_AT_ONCE; ) doomed = await doom(db, mine);
  const { rows } = await sql<{ id: number; name: string }>`
    select id, name from blob where ${mine} and (status = 'doomed'
      or status = 'arriving' and created_at < now() - ${UNFINISHED_AFTER_MS} * interval '1 millisecond')`.execute(
    db,
  );
  for (const { id, name } of rows) {
    await store.remove(name);
    await db.deleteFrom("blob").where("id", "=", id).where("status", "<>", "kept").execute();
  }
}

/**
 * What is doomed is never named again. Two statements: whoever names a file locks its row, so the second one sees all
 * names of the rows that the first one has got.
 */
async function doom(db: Db, mine: ReturnType<typeof sql>): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: number }>`
      select id from blob b where ${mine} and status = 'kept'
        and created_at < now() - ${UNNAMED_AFTER_MS} * interval '1 millisecond'
        and not exists (select from media where blob = b.id)
      order by id limit ${ROWS_AT_ONCE} for update skip locked`.execute(trx);
    if (rows.length === 0) return 0;
    await sql`
      update blob b set status = 'doomed'
      where id = any(${rows.map(({ id }) => id)}::bigint[]) and not exists (select from media where blob = b.id)`.execute(
      trx,
    );
    return rows.length;
  });
}

const SWEEP_EVERY_MS = 600_000;

/** Sweeps now and then, as long as the process runs; a failed sweep is made up for by the next. */
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
