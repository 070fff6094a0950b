import { sql } from "kysely";
import type { Engine } from "../../../engine/engine.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { type Integration, type IntegrationRow, lanesOf } from "../integration-row.ts";
import { isSavedAt } from "./integration-health.ts";

/** Ends a pause and retries waiting deliveries at once: a test request has reached the other side. */
export async function resumeDeliveries(
  { db, engine }: { db: Db; engine: Pick<Engine, "wake"> },
  integration: Integration,
): Promise<void> {
  await db
    .updateTable("integration")
    .set({ paused_until: null, refused_since: null })
    .where("id", "=", integration.id)
    .where(isSavedAt(integration.updated_at))
    .execute();
  await makeRetriesDue(db, integration);
  engine.wake(lanesOf(integration), { changed: true });
}

/** Makes every delivery due that waits for its next attempt. The caller wakes the lanes after the commit. */
export async function makeRetriesDue(
  db: Db | Trx,
  { lane, inbound_lane }: Pick<IntegrationRow, "lane" | "inbound_lane">,
): Promise<void> {
  await sql`
    with waiting as (
      select id from job where lane in (${lane}, ${inbound_lane}) and attempts > 0 order by id for update
    )
    update job set run_at = least(run_at, now()) from waiting where job.id = waiting.id`.execute(db);
}
