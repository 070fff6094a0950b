import type { WACallEvent } from "baileys";
import type { Jid, NetworkEvent } from "../../driver.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import type { OperationContext } from "../operations/operation-context.ts";

/** The event of a ringing phone call; undefined for later changes of a call. */
export async function readPhoneCall(
  call: WACallEvent,
  people: IdentityStore,
): Promise<NetworkEvent | undefined> {
  if (call.status !== "offer") return undefined;
  const from = await people.identify(call.from, call.callerPn);
  return (
    from && { type: "call_received", from, call_id: call.id, video: call.isVideo ?? false, at: call.date }
  );
}

/** Rejects it under the address from which it rings, which may differ from the person's main address. */
export async function rejectPhoneCall(
  { sock, ringingCalls }: OperationContext,
  id: string,
  from: Jid,
): Promise<null> {
  await sock.rejectCall(id, ringingCalls.get(id)?.from ?? from);
  return null;
}
