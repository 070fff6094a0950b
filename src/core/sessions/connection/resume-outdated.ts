import { sql } from "kysely";
import type { Engine } from "../../../engine/engine.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { addControlJob, changeStatus, findAndLockInstance } from "../../instances/instances.ts";

/** The reason of an instance whose client version WhatsApp has rejected begins with this text. */
export const OUTDATED_REASON = "outdated";

/** Reconnects instances that WhatsApp rejected before the current version was found. Safe to repeat. */
export async function resumeOutdated(db: Db, engine: Pick<Engine, "wake" | "publish">): Promise<void> {
  for (const id of await findResumable(db)) {
    const lanes = await db.transaction().execute((trx) => resume(trx, id));
    if (lanes.length === 0) continue;
    engine.wake(lanes);
    engine.publish("instance", String(id));
  }
}

async function findResumable(db: Db): Promise<number[]> {
  // Allows one minute: a version may be found while a session's rejection is not yet stored.
  const { rows } = await sql<{ id: number }>`
    select i.id from instance i, client_version v
    where i.status = 'error' and i.wanted = 'connected' and i.last_disconnect_reason like ${`${OUTDATED_REASON}%`}
      and i.removed_at is null and v.changed_at + interval '1 minute' > coalesce(
        (select max(l.created_at) from connection_log l where l.instance_id = i.id and l.status = 'error'), '-infinity')
    order by i.id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Returns the lanes to wake; none if the customer has acted first. */
async function resume(trx: Trx, id: number): Promise<number[]> {
  const row = await findAndLockInstance(trx, id);
  const isWaiting = row?.status === "error" && row.last_disconnect_reason?.startsWith(OUTDATED_REASON);
  if (!isWaiting || row.wanted !== "connected") return [];
  await addControlJob(trx, row.lane, { do: "connect", afresh: true });
  return [row.lane, ...(await changeStatus(trx, row, { status: "connecting", reason: null }))];
}
