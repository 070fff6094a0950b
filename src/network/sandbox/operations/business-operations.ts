import type { Jid } from "../../driver.ts";
import type { BusinessOperations } from "../../session-operations.ts";
import { type NetworkAction, type RunOperation, rejected, succeeded } from "../connection/network-action.ts";
import { isOnNetwork, phoneOf } from "../sandbox-numbers.ts";
import { findProfile } from "../world/person-store.ts";

export function businessOperations(run: RunOperation): BusinessOperations {
  return {
    catalog: (jid, { limit, cursor }) =>
      run({ action: "catalog", ...(jid && { chat: jid }) }, async (acting) => {
        const shop = await findBusiness(acting, jid);
        if (!shop) return rejected("RECIPIENT_NOT_FOUND", "The number is not on the network.");
        if (!shop.catalog) return rejected("NOT_FOUND", "This person has no catalogue.");
        const from = Number(cursor ?? 0);
        if (!Number.isInteger(from))
          return rejected("VALIDATION_ERROR", "The network does not know this cursor.");
        const to = from + limit;
        const next_cursor = to < shop.catalog.length ? String(to) : null;
        return succeeded({ products: shop.catalog.slice(from, to), next_cursor });
      }),
  };
}

/** Null: the paired phone. Undefined: the number is not on the network. */
async function findBusiness(acting: NetworkAction, jid: Jid | null) {
  const phone = jid === null ? acting.actor.phone : phoneOf(jid);
  return phone !== null && isOnNetwork(phone) ? findProfile(acting, phone) : undefined;
}
