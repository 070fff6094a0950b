import { sql } from "kysely";
import { z } from "zod";
import type { Job } from "../../../engine/engine.ts";
import { heldLanes } from "../../../engine/fence.ts";
import type { IntegrationDeps } from "../provider.ts";

/** `away`: nobody was served; `timeouts`: no answer in time; `failures`: everything else. */
export type FailureKind = "away" | "timeouts" | "failures";
export type Tries = Record<FailureKind, number>;

const count = z.number().int().nonnegative().catch(0);
const ref = z.object({ tries: z.object({ away: count, timeouts: count, failures: count }) });

/** How often an event has failed, by what went wrong: an outage of n8n uses up none of the tries of an event. */
export function readTries(job: Pick<Job, "ref">): Tries {
  return ref.safeParse(job.ref).data?.tries ?? { away: 0, timeouts: 0, failures: 0 };
}

/** Writes nothing when the lane is lost. */
export async function recordTries(
  { db, engine }: Pick<IntegrationDeps, "db" | "engine">,
  { id, lane }: Job,
  tries: Tries,
): Promise<void> {
  await sql`
    with held as (${heldLanes(engine.node.id, [lane])})
    update job set ref = job.ref || ${JSON.stringify({ tries })}::jsonb
    where id = ${id} and exists (select from held)`.execute(db);
}
