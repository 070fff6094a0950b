import type { WACallEvent } from "baileys";
import type { NetworkEvent } from "../driver.ts";
import type { People } from "./people.ts";

/** That somebody rings; undefined for all that happens to a call later. */
export async function readCall(call: WACallEvent, people: People): Promise<NetworkEvent | undefined> {
  if (call.status !== "offer") return undefined;
  const from = await people.identify(call.from, call.callerPn);
  return (
    from && { type: "call_received", from, call_id: call.id, video: call.isVideo ?? false, at: call.date }
  );
}
