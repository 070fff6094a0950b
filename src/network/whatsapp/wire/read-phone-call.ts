import type { WACallEvent } from "baileys";
import type { NetworkEvent } from "../../driver.ts";
import type { IdentityStore } from "../keys/identity-store.ts";

/** The event of a ringing phone call; undefined for later changes of a call. */
export async function readPhoneCall(
  event: WACallEvent,
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  if (event.status !== "offer") return undefined;
  const from = await identities.identify(event.from, event.callerPn);
  return (
    from && { type: "call_received", from, call_id: event.id, video: event.isVideo ?? false, at: event.date }
  );
}
