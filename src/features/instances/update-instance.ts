import { sql } from "kysely";
import type { Db } from "../../platform/db.ts";
import type { InputOf } from "../../platform/route.ts";
import type { SecretBox } from "../../platform/secret-box.ts";
import type { instancesContract } from "./contract.ts";
import { lockInstance } from "./instance-row.ts";
import { readSettings } from "./instance-settings.ts";
import { type OutgoingPolicy, requireAllowedProxy } from "./outgoing-policy.ts";

type UpdateInput = InputOf<typeof instancesContract.updateInstance>;

/** Changes what is named; the rest stays. */
export async function updateInstance(
  { db, box, outgoing }: { db: Db; box: SecretBox; outgoing: OutgoingPolicy },
  input: UpdateInput,
): Promise<void> {
  const { id, name, webhook_enabled, metadata, proxy } = input;
  await requireAllowedProxy(outgoing, proxy?.url);
  await db.transaction().execute(async (trx) => {
    const row = await lockInstance(trx, id);
    await trx
      .updateTable("instance")
      .set({
        name,
        webhook_enabled,
        metadata: metadata && JSON.stringify(metadata),
        ...(proxy !== undefined && { proxy: proxy && box.seal(proxy.url) }),
        settings: JSON.stringify(readSettings(row.settings, input)),
        updated_at: sql<Date>`now()`,
      })
      .where("id", "=", id)
      .execute();
  });
}
