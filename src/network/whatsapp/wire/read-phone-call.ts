import type { WACallEvent } from "baileys";
import type { NetworkEvent } from "../../driver.ts";
import type { IdentityStore } from "../keys/identity-store.ts";

/** The event of a ringing phone call; undefined for later changes of a call. */
export async function readPhoneCall(
  call: WACallEvent,
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  if (call.status !== "offer") return undefined;
  const from = await identities.identify(call.from, call.callerPn);
  return (
    from && { type: "call_received", from, call_id: call.id, video: call.isVideo ?? false, at: call.date }
  );
}
