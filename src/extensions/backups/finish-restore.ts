import { type RawBuilder, sql } from "kysely";
import { recordAudit } from "../../core/audit/audit.ts";
import type { Db } from "../../platform/db/database.ts";
import { addErasures, type LoggedErasure } from "./erasure-log.ts";
import type { BackupHeader } from "./file/read-backup.ts";

/** Lanes whose jobs send nothing to the outside, so they stay active. */
const INWARD = ["maintenance", "campaign", "privacy"];
/** Session jobs that send nothing to the outside. */
const INWARD_OF_SESSIONS = ["media", "delete"];
/** Session jobs for a connection that no longer exists. */
const OF_A_CONNECTION = ["connect", "reconnect", "reject_call"];

/** Ends all sign-ins and assistants, disconnects all instances, and holds pending jobs until the operator decides. */
export async function finishRestore(
  db: Db,
  header: BackupHeader,
  erasures: readonly LoggedErasure[],
): Promise<void> {
  await run(db, sql`update lane set owner = null`);
  // A sign-in or a token that ended after the backup would become valid again.
  await run(db, sql`delete from sign_in`);
  await run(db, sql`delete from oauth_grant`);
  await stopInstances(db);
  await deleteRegistrations(db);
  await holdJobs(db);
  await pauseCampaigns(db);
  await run(db, sql`delete from restore_record`);
  await db
    .insertInto("restore_record")
    .values({ backup: header.id, backup_at: new Date(header.created_at) })
    .execute();
  await addErasures(db, erasures);
  const target = { type: "backup", id: header.id };
  await recordAudit(db, {
    by: { caller: { kind: "system" } },
    action: "backup.restore",
    target,
    account_id: null,
  });
}

async function stopInstances(db: Db): Promise<void> {
  await run(
    db,
    sql`
    update instance set wanted = 'stopped', status = 'disconnected', last_disconnect_reason = 'restored',
      disconnected_at = now(), updated_at = now(), qr = null, qr_attempt = null, qr_expires_at = null,
      qr_reason = null, pairing_code = null, passkey = null
    where wanted = 'connected'
      or status in ('connecting', 'qr_pending', 'passkey_required', 'connected', 'reconnecting')`,
  );
}

/** An instance linked after the backup must not be registered again with the same keys. */
async function deleteRegistrations(db: Db): Promise<void> {
  await run(db, sql`update credential set registration = null where registration is not null`);
}

async function holdJobs(db: Db): Promise<void> {
  const isOfSession = (what: string[]) => sql`l.kind = 'session' and j.ref ->> 'do' = any(${what}::text[])`;
  await run(db, sql`delete from job j using lane l where l.id = j.lane and l.kind = 'backup'`);
  await run(db, sql`delete from job j using lane l where l.id = j.lane and ${isOfSession(OF_A_CONNECTION)}`);
  await run(
    db,
    sql`
    with put_on_hold as (
      delete from job j using lane l
      where l.id = j.lane and l.kind <> all(${INWARD}::text[]) and (${isOfSession(INWARD_OF_SESSIONS)}) is not true
      returning j.*, l.kind
    )
    insert into held_job (id, lane, kind, prio, pos, grp, run_at, attempts, max_attempts, ref)
    select id, lane, kind, prio, pos, grp, run_at, attempts, max_attempts, ref from put_on_hold`,
  );
  // Without a deadline, a message on hold cannot expire.
  await run(
    db,
    sql`update message set deadline = null where status in ('scheduled', 'pending') and outcome_at is null`,
  );
}

async function pauseCampaigns(db: Db): Promise<void> {
  await run(
    db,
    sql`
    update campaign set status = 'paused', status_reason = 'restored', next_at = null, updated_at = now()
    where status in ('scheduled', 'queued', 'running')`,
  );
}

async function run(db: Db, statement: RawBuilder<unknown>): Promise<void> {
  await statement.execute(db);
}
