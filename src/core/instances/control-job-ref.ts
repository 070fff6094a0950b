import { sql } from "kysely";
import { z } from "zod";
import { addJobs } from "../../engine/job-store.ts";
import type { Db, Trx } from "../../platform/db/database.ts";

/** A customer's request to a session; the owner of its lane runs it. */
export const controlJobRef = z.discriminatedUnion("do", [
  z.object({
    do: z.literal("connect"),
    phone: z.string().optional(),
    /** Whether to begin with a new session, because the previous one cannot continue. */
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

/** Queues a job for the owner of the session. The caller's lock on the instance keeps the order. */
export async function addControlJob(trx: Trx, lane: number, ref: ControlJobRef): Promise<void> {
  const { rows } = await sql<{ micros: number }>`
    select floor(extract(epoch from clock_timestamp()) * 1000000)::bigint as micros`.execute(trx);
  const pos = Number(BigInt(rows[0]?.micros ?? 0) - POS_BASE);
  await addJobs(trx, [{ lane, prio: 0, pos, grp: CONTROL_JOB_GROUP, ref }]);
}

/** Whether such a job is pending or running. */
export async function hasControlJob(db: Db | Trx, lane: number, what: ControlJobRef["do"]): Promise<boolean> {
  const found = await db
    .selectFrom("job")
    .select("id")
    .where("lane", "=", lane)
    .where("grp", "=", CONTROL_JOB_GROUP)
    // Lets the index find them before all other jobs of the lane.
    .where("prio", "=", 0)
    .where("pos", "<", 0)
    .where(sql<string>`ref->>'do'`, "=", what)
    .limit(1)
    .execute();
  return found.length > 0;
}
