import type { Engine } from "../../engine/engine.ts";
import type { NetworkEvent } from "../../network/driver.ts";
import type { Db } from "../../platform/db/database.ts";
import { cleanFromNetwork } from "../../platform/text/clean-text.ts";
import { type EventTag, recordEvents } from "../events/events.ts";
import { applyGroupUpdate, type GroupInstance } from "./save-groups.ts";

/** Stores the group as the network reports it, and records the event unless the instance ignores groups. */
export async function recordGroupChange(
  { db, engine }: { db: Db; engine: Pick<Engine, "wake"> },
  owner: GroupInstance,
  { group: jid, at, change }: Extract<NetworkEvent, { type: "group_updated" }>,
  { ignore_groups }: { ignore_groups: boolean },
): Promise<void> {
  const { by, ...changed } = cleanFromNetwork(change);
  const data = { jid, at: at.toISOString(), by: by ?? null, change: changed };
  const lanes = await db.transaction().execute(async (trx) => {
    await applyGroupUpdate(trx, owner, jid, change);
    if (ignore_groups) return [];
    const tags: EventTag[] = ["groups"];
    return recordEvents(trx, [{ event: "group.updated", instance_id: owner.id, chat: jid, tags, data }]);
  });
  engine.wake(lanes);
}
