import type { Jid } from "../../driver.ts";
import { isGroupJid } from "../../jid.ts";
import type { OperationResult } from "../../session-operations.ts";
import { type RunOperation, rejected, succeeded } from "../connection/network-action.ts";
import { isOnNetwork, phoneOf } from "../sandbox-numbers.ts";
import { isRejected, requireMembership } from "../world/group-store.ts";

/** Asks to hear of the presence of a person or of the members of a group; the network reports it to every device. */
export function requestPresence(run: RunOperation, chat: Jid): Promise<OperationResult<null>> {
  return run({ action: "presence_subscribe", chat }, async (acting) => {
    if (isGroupJid(chat)) {
      const group = await requireMembership(acting, chat);
      return isRejected(group) ? group : succeeded(null);
    }
    const phone = phoneOf(chat);
    const isThere = phone !== null && isOnNetwork(phone);
    return isThere ? succeeded(null) : rejected("RECIPIENT_NOT_FOUND", "The number is not on the network.");
  });
}
