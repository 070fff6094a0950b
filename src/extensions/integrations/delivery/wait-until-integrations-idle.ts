import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Db } from "../../../platform/db/database.ts";

const POLL_MS = 100;

/** Resolves once an instance's integrations have no job that can run now, or after the timeout. */
export async function waitUntilIntegrationsIdle(
  db: Db,
  instanceId: number,
  timeoutMs: number,
): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  while (performance.now() < giveUpAt && (await hasWork(db, instanceId))) await delay(POLL_MS);
}

async function hasWork(db: Db, instanceId: number): Promise<boolean> {
  const { rows } = await sql`
    select from integration i join job j on j.lane = i.lane and j.run_at <= now()
    where i.instance_id = ${instanceId} and i.enabled limit 1`.execute(db);
  return rows.length > 0;
}
