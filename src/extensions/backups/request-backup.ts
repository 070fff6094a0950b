import { sql } from "kysely";
import { type AuditActor, recordAudit } from "../../core/audit/audit.ts";
import { addJobs } from "../../engine/job-store.ts";
import { addLane } from "../../engine/lane-store.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { ulid } from "../../platform/ulid.ts";
import type { BackupTable } from "../../tables.ts";

/** Kind, key and job group of the lane for backups. */
export const BACKUP_LANE = "backup";

const DAY_MS = 86_400_000;

/** Requests a backup; returns its id and the lane to wake. Throws CONFLICT while another backup runs. */
export async function requestBackup(
  db: Db,
  by: AuditActor,
  trigger: BackupTable["trigger"],
): Promise<{ id: string; lane: number }> {
  const lane = await addLane(db, BACKUP_LANE, BACKUP_LANE);
  const id = await db.transaction().execute(async (trx) => {
    const added = await addBackup(trx, by, trigger);
    await addJobs(trx, [{ lane, prio: 1, pos: 0, grp: BACKUP_LANE, ref: { backup: added } }]);
    return added;
  });
  return { id, lane };
}

/** Adds the row of a backup that the caller makes itself. Throws CONFLICT while another backup runs. */
export async function addBackup(trx: Db, by: AuditActor, trigger: BackupTable["trigger"]): Promise<string> {
  const id = `bkp_${ulid()}`;
  const { rows } = await sql<{ id: string }>`
    insert into backup (id, trigger) values (${id}, ${trigger}) on conflict do nothing returning id`.execute(
    trx,
  );
  if (rows.length === 0)
    throw new GatewayError("CONFLICT", "A backup is already being made. Wait until it ends.");
  await recordAudit(trx, { by, action: "backup.create", target: { type: "backup", id }, account_id: null });
  return id;
}

/**
 * Whether the daily backup is due: none since the last backup time (milliseconds after midnight, UTC), and
 * data to back up. A failed backup is retried after an hour.
 */
export async function isBackupDue(db: Db, quietHourMs: number, now: Date): Promise<boolean> {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS + quietHourMs;
  const since = new Date(today <= now.getTime() ? today : today - DAY_MS);
  const { rows } = await sql`
    select where exists (select from account where created_at < ${since}) and not exists (
      select from backup where status = 'running' or created_at >= ${since}
        and (status <> 'failed' or created_at > ${now}::timestamptz - interval '1 hour'))`.execute(db);
  return rows.length > 0;
}
