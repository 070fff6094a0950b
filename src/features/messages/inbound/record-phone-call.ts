import type { Engine } from "../../../engine/engine.ts";
import type { Db } from "../../../platform/db/database.ts";
import { type EventDraft, recordEvents } from "../../events/events.ts";
import { type IncomingPhoneCall, queuePhoneCallRejection } from "./phone-call-rejecter.ts";

/** Stores the event of a phone call, and queues a rejection if the instance rejects calls. */
export async function recordPhoneCall(
  db: Db,
  engine: Pick<Engine, "wake">,
  instanceId: number,
  call: IncomingPhoneCall,
): Promise<void> {
  const lanes = await db.transaction().execute(async (trx) => {
    const touched = await queuePhoneCallRejection(trx, instanceId, call);
    return [...touched, ...(await recordEvents(trx, [toEvent(instanceId, call)]))];
  });
  engine.wake(lanes);
}

function toEvent(instance_id: number, { at, from, call_id, video }: IncomingPhoneCall): EventDraft {
  const data = { call_id, from, video, at: at.toISOString() };
  return { event: "call.received", instance_id, chat: from.jid, data };
}
