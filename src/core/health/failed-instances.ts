import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { FINDINGS } from "../../platform/findings.ts";
import { SESSION_START_FAILURES } from "../sessions/sessions.ts";
import type { DoctorFinding } from "./doctor-checks.ts";

export interface FailedInstances {
  /** The code at the start of `last_disconnect_reason`. */
  reason: string;
  instances: number;
}

const code = sql<string>`split_part(coalesce(last_disconnect_reason, ''), ':', 1)`;

/** Counts instances with the status `error` by reason, the most frequent first. */
export async function countFailedInstances(db: Db): Promise<FailedInstances[]> {
  return failedInstances(db)
    .select(({ fn }) => [code.as("reason"), fn.countAll<number>().as("instances")])
    .groupBy(code)
    .orderBy("instances", "desc")
    .orderBy("reason")
    .execute();
}

/** Whether the session of any instance cannot start because of a fault of the gateway. */
export async function hasFailedStart(db: Db): Promise<boolean> {
  const found = await failedInstances(db)
    .select("id")
    .where(code, "in", SESSION_START_FAILURES)
    .limit(1)
    .execute();
  return found.length > 0;
}

/** Whether the network withholds messages of any instance, as reported in the last day. */
export async function hasWithheldQueue(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select from instance where removed_at is null and attention->>'code' = 'queue_withheld'
      and (attention->>'since')::timestamptz > now() - interval '1 day' limit 1`.execute(db);
  return rows.length > 0;
}

export async function checkSessions(db: Db): Promise<DoctorFinding> {
  const label = "sessions";
  const failed = await countFailedInstances(db);
  if (failed.length === 0) return { label, grade: "ok", detail: "no instance has the status error" };
  const counts = failed.map(({ reason, instances }) => `${reason} (${instances})`).join(", ");
  const fix = FINDINGS.sessions_failing.action;
  return { label, grade: "warn", detail: `instances with the status error: ${counts}`, fix };
}

function failedInstances(db: Db) {
  return db.selectFrom("instance").where("status", "=", "error").where("removed_at", "is", null);
}
