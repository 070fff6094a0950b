import type { WACallEvent } from "baileys";
import type { Jid, NetworkEvent } from "../driver.ts";
import type { CallDesk } from "./call-desk.ts";
import type { People } from "./people.ts";

/** That somebody rings; undefined for all that happens to a call later. */
export async function readCall(call: WACallEvent, people: People): Promise<NetworkEvent | undefined> {
  if (call.status !== "offer") return undefined;
  const from = await people.identify(call.from, call.callerPn);
  return (
    from && { type: "call_received", from, call_id: call.id, video: call.isVideo ?? false, at: call.date }
  );
}

/** Under the address from which it rings, which may be another one than that of the person. */
export async function rejectCall({ sock, ringing }: CallDesk, id: string, from: Jid): Promise<null> {
  await sock.rejectCall(id, ringing.get(id)?.from ?? from);
  return null;
}
