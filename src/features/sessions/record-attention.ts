import { sql } from "kysely";
import type { Engine } from "../../engine/engine.ts";
import type { AttentionReason } from "../../network/driver.ts";
import type { Db } from "../../platform/db/database.ts";
import { recordEvents } from "../events/events.ts";
import { ATTENTION_MESSAGES, findAndLockInstance, type InstanceRow } from "../instances/instances.ts";

/** The network repeats a request that is not handled, and withholds the same messages at each login. */
const SAME_DEMAND_MS = { passkey_challenge: 60_000, queue_withheld: 24 * 3_600_000 } as const;

export interface AttentionDeps {
  db: Db;
  engine: Pick<Engine, "wake" | "publish">;
}

/** Stores a request of the network that a user must handle, and reports it as `instance.attention`. */
export async function recordAttention({ db, engine }: AttentionDeps, id: number, code: AttentionReason) {
  const lanes = await db.transaction().execute(async (trx) => {
    const row = await findAndLockInstance(trx, id);
    if (!row || isSameDemand(row, code)) return [];
    const since = new Date().toISOString();
    await trx
      .updateTable("instance")
      .set({ attention: JSON.stringify({ code, since }), updated_at: sql<Date>`now()` })
      .where("id", "=", id)
      .execute();
    const data = {
      code,
      message: ATTENTION_MESSAGES[code],
      since,
      phone: row.phone,
      jid: row.jid,
      status: row.status,
    };
    return recordEvents(trx, [{ event: "instance.attention", instance_id: id, chat: "instance", data }]);
  });
  engine.wake(lanes);
  engine.publish("instance", String(id));
}

function isSameDemand({ attention }: InstanceRow, code: AttentionReason): boolean {
  return attention?.code === code && Date.now() - Date.parse(attention.since) < SAME_DEMAND_MS[code];
}
