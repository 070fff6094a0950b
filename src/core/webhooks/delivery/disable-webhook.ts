import { sql } from "kysely";
import type { Engine } from "../../../engine/engine.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import type { DeliveryFailure } from "../../../platform/delivery-reasons.ts";
import { recordEvents } from "../../events/events.ts";
import { publishWebhookChange } from "./delivery-dispatcher.ts";
import { webhookNotice } from "./webhook-report-events.ts";

const WEBHOOKS_AT_ONCE = 200;

interface DisableDeps {
  db: Db;
  engine: Pick<Engine, "publish" | "wake">;
}

/** Disables a webhook, stores the reason and reports it to subscribers. */
export async function disableWebhook(
  { db, engine }: DisableDeps,
  id: number,
  instanceId: number | null,
  { error, ...why }: DeliveryFailure & { error: string },
): Promise<void> {
  const lanes = await db.transaction().execute(async (trx) => {
    const row = await trx
      .updateTable("webhook")
      .set({
        is_active: false,
        disabled_reason: error,
        disabled_error: JSON.stringify(why),
        disabled_at: sql<Date>`now()`,
      })
      .where("id", "=", id)
      .where("is_active", "=", true)
      .returning(["id", "url", "retry_enabled", "max_attempts"])
      .executeTakeFirst();
    // The global webhook has no instance, so its changes create no event: the operator reads its row.
    if (!row || instanceId === null) return [];
    return recordEvents(trx, [webhookNotice(instanceId, row, "endpoint_disabled", error)]);
  });
  publishWebhookChange(engine);
  engine.wake(lanes);
}

const NO_SUCCESS = {
  error: "No delivery has succeeded for 5 days.",
  reason: "no_success",
  params: { days: 5 },
} as const;

/** Warns after a day without success, and disables after five days and 20 failed events. */
export async function disableFailingWebhooks({ db, engine }: DisableDeps): Promise<void> {
  const failing = await db
    .selectFrom("webhook")
    .select(["id", "instance_id"])
    .where("is_active", "=", true)
    .where("failing_since", "<", sql<Date>`now() - interval '5 days'`)
    .where("failed_events", ">=", 20)
    .execute();
  for (const { id, instance_id } of failing) {
    await disableWebhook({ db, engine }, id, instance_id, NO_SUCCESS);
  }
  engine.wake(await db.transaction().execute(warn));
}

/** Skips rows that a delivery is writing, until the next run: a wait for several could deadlock. */
async function warn(trx: Trx): Promise<number[]> {
  const failing = await trx
    .selectFrom("webhook")
    .select(["id", "instance_id", "url", "retry_enabled", "max_attempts"])
    .where("is_active", "=", true)
    .where("warned_at", "is", null)
    .where("failing_since", "<", sql<Date>`now() - interval '1 day'`)
    .limit(WEBHOOKS_AT_ONCE)
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
  if (failing.length === 0) return [];
  const ids = failing.map((row) => row.id);
  await trx.updateTable("webhook").set({ warned_at: sql<Date>`now()` }).where("id", "in", ids).execute();
  const text = "No delivery has succeeded for a day. After five days the webhook is disabled.";
  const notices = failing.flatMap(({ instance_id, ...row }) =>
    instance_id === null ? [] : [webhookNotice(instance_id, row, "endpoint_failing", text)],
  );
  return recordEvents(trx, notices);
}
