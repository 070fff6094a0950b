import { sql } from "kysely";
import type { Engine } from "../../engine/engine.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { type AuditActor, recordAudit } from "../audit/audit.ts";
import { endDescendantAccess } from "./api-keys/issue-api-key.ts";
import { addControlJob } from "./control-job-ref.ts";
import { instanceAuditEntry } from "./instance-audit-entry.ts";
import { lockInstance } from "./instance-row.ts";
import { waitForInstance } from "./wait-for-instance.ts";

const WAIT_MS = 20_000;

export interface RemoveInstanceDeps {
  db: Db;
  engine: Pick<Engine, "wake" | "publish" | "subscribe">;
  invalidateApiKeys(digests: readonly Buffer[]): void;
}

/**
 * Hides the instance, ends its keys and queues a job for its session's owner, which also completes the
 * removal after a crash. Waits at most 20 s until the row is deleted.
 */
export async function requestRemoval(
  deps: RemoveInstanceDeps,
  id: number,
  { signal, ...removal }: Removal & { signal: AbortSignal },
): Promise<void> {
  const { db, engine } = deps;
  const hidden = await db.transaction().execute((trx) => markInstanceRemoved(trx, id, removal));
  announceRemoval(deps, hidden);
  await waitUntilGone({ db, engine }, id, signal);
}

interface Removal {
  by: AuditActor;
  /** Whether the keys of instances that were made with its keys end too. */
  end_descendants: boolean;
}

/** A hidden instance; its lane has the job to remove it. */
export interface RemovedInstance {
  id: number;
  lane: number;
  /** Digests of its keys, which have ended. */
  digests: Buffer[];
}

/** The part of a removal in the caller's transaction; call `announceRemoval` after the commit. */
export async function markInstanceRemoved(
  trx: Trx,
  id: number,
  { by, end_descendants }: Removal,
): Promise<RemovedInstance> {
  const row = await lockInstance(trx, id);
  const keys = await trx.deleteFrom("api_key").where("instance_id", "=", id).returning("digest").execute();
  const digests = keys.map(({ digest }) => digest);
  if (end_descendants) digests.push(...(await endDescendantAccess(trx, id)));
  // Its descendants stay those of the instance above it, whose key can then still be renewed with theirs.
  if (row.parent_instance_id !== null)
    await trx
      .updateTable("instance")
      .set({ parent_instance_id: row.parent_instance_id })
      .where("parent_instance_id", "=", id)
      .execute();
  await takeOffAgents(trx, row.account_id, id);
  await addControlJob(trx, row.lane, { do: "delete" });
  await recordAudit(
    trx,
    instanceAuditEntry(by, "instance.delete", row, end_descendants ? { end_descendants } : {}),
  );
  await trx
    .updateTable("instance")
    .set({ wanted: "stopped", removed_at: sql<Date>`now()` })
    .where("id", "=", id)
    .execute();
  return { id, lane: row.lane, digests };
}

/** An agent whose list is empty then reaches none. Locks users in one order, as other removals do. */
async function takeOffAgents(trx: Trx, account_id: number, id: number): Promise<void> {
  await sql`
    with agent as (
      select id from account_user where account_id = ${account_id} and ${id} = any(instance_ids)
      order by id for no key update
    )
    update account_user u set instance_ids = array_remove(u.instance_ids, ${id}::bigint)
    from agent where u.id = agent.id`.execute(trx);
}

export function announceRemoval(
  { engine, invalidateApiKeys }: Omit<RemoveInstanceDeps, "db">,
  { id, lane, digests }: RemovedInstance,
): void {
  invalidateApiKeys(digests);
  engine.wake([lane]);
  engine.publish("instance", String(id));
}

async function waitUntilGone(
  { db, engine }: Pick<RemoveInstanceDeps, "db" | "engine">,
  id: number,
  signal: AbortSignal,
): Promise<void> {
  await waitForInstance({ engine, ms: WAIT_MS, signal }, id, async () => {
    const left = await db.selectFrom("instance").select("id").where("id", "=", id).execute();
    return left.length === 0;
  });
}
