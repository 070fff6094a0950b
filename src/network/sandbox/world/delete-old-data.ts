import type { Pool } from "pg";
import { HOST_LOCK_CLASS } from "../connection/host-lock.ts";

const RETENTION = "30 days";
/** The network unlinks a device that was offline for this long, as WhatsApp does. */
const LINKED = "14 days";

/** Deletes expired network data. */
export async function deleteOldData(pool: Pool): Promise<void> {
  // If this lock is free, the process that held it has died and its sockets are closed.
  await pool.query(
    `update sandbox.device set unlinked_at = now(), session = null
     where unlinked_at is null and greatest(created_at, logged_in_at) < now() - interval '${LINKED}'
       and (session is null or pg_try_advisory_xact_lock_shared($1, host))`,
    [HOST_LOCK_CLASS],
  );
  await pool.query(
    "delete from sandbox.inbox m using sandbox.device d where d.id = m.device and d.unlinked_at is not null",
  );
  await pool.query("delete from sandbox.media where expires_at < now()");
  await pool.query("delete from sandbox.pairing where expires_at < now() - interval '1 hour'");
  await pool.query(`delete from sandbox.message where at < now() - interval '${RETENTION}'`);
  await pool.query(`delete from sandbox.ledger where at < now() - interval '${RETENTION}'`);
}
