import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { ulidTime } from "../../platform/ulid.ts";

/** Finds an event of the instance by its number or its `event_id`. */
export async function getEvent(db: Db, instanceId: number, eventId: string) {
  const query = db.selectFrom("event").selectAll().where("instance_id", "=", instanceId);
  const found = eventId.startsWith("evt_")
    ? await query
        .where("event_id", "=", eventId)
        .where("created_at", ">=", dayBefore(eventId))
        .executeTakeFirst()
    : /^\d{1,15}$/.test(eventId)
      ? await query.where("id", "=", Number(eventId)).executeTakeFirst()
      : undefined;
  if (!found) throw noEvent();
  return found;
}

/** Lets the query skip the partitions before the event: its id begins with its time. */
function dayBefore(eventId: string): Date {
  try {
    return new Date(ulidTime(eventId.slice("evt_".length)).getTime() - 86_400_000);
  } catch {
    throw noEvent();
  }
}

function noEvent(): GatewayError {
  return new GatewayError("NOT_FOUND", "There is no such event.");
}
