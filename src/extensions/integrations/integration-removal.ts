import type { Removal } from "../../core/statement-hooks.ts";
import { lanesOf } from "./integration-row.ts";

export const integrationRemoval: Removal = {
  async lanesOfInstance(trx, instanceId) {
    const rows = await trx
      .selectFrom("integration")
      .select(["lane", "inbound_lane"])
      .where("instance_id", "=", instanceId)
      .execute();
    return rows.flatMap(lanesOf);
  },
  async removeFromInstance(trx, instanceId) {
    await trx.deleteFrom("integration").where("instance_id", "=", instanceId).execute();
  },
};
