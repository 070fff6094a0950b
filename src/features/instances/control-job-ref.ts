import { sql } from "kysely";
import { z } from "zod";
import { addJobs } from "../../engine/job-store.ts";
import type { Db, Trx } from "../../platform/db/database.ts";

/** A customer's request to a session; the owner of its lane runs it. */
export const controlJobRef = z.discriminatedUnion("do", [
  z.object({
    do: z.literal("connect"),
    phone: z.string().optional(),
    /** Nothing more can come of the session that was: begin with a new one. */
    afresh: z.boolean(),
  }),
  z.object({ do: z.literal("reconnect") }),
  z.object({ do: z.literal("logout") }),
  z.object({ do: z.literal("delete") }),
]);

export type ControlJobRef = z.output<typeof controlJobRef>;

/** All control jobs of a session run sequentially, independent of its chats. */
export const CONTROL_JOB_GROUP = "control";

/** Keeps `pos` negative, ahead of every send, and rising with time. */
const POS_BASE = 8_000_000_000_000_000n;

/**
 * Queues a job for the owner of the session. The caller holds the lock on the instance, which keeps the
 * order.
 */
export async function addControlJob(trx: Trx, lane: number, ref: ControlJobRef): Promise<void> {
  const { rows } = await sql<{ micros: number }>`
    select floor(extract(epoch from clock_timestamp()) * 1000000)::bigint as micros`.execute(trx);
  const pos = Number(BigInt(rows[0]?.micros ?? 0) - POS_BASE);
  await addJobs(trx, [{ lane, prio: 0, pos, grp: CONTROL_JOB_GROUP, ref }]);
}

/** Whether such a job still waits or runs. */
export async function hasControlJob(db: Db | Trx, lane: number, what: ControlJobRef["do"]): Promise<boolean> {
  const found = await db
    .selectFrom("job")
    .select("id")
    .where("lane", "=", lane)
    .where("grp", "=", CONTROL_JOB_GROUP)
    // Finds them by the index, before all other jobs of the lane.
    .where("prio", "=", 0)
    .where("pos", "<", 0)
    .where(sql<string>`ref->>'do'`, "=", what)
    .limit(1)
    .execute();
  return found.length > 0;
}
