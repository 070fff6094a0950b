import { sql } from "kysely";
import type { Db } from "../../platform/db.ts";
import type { OutcomeRecorder } from "./record-outcome.ts";
import { SEND_ERROR } from "./send-error.ts";

const AT_ONCE = 500;

/** Fails the sends whose instance stayed away for longer than they could wait. */
export async function expireHeldSends(db: Db, outcomes: OutcomeRecorder): Promise<void> {
  const overdue = await db
    .selectFrom("message as m")
    .innerJoin("instance as i", "i.id", "m.instance_id")
    .select(["m.id", "m.submitted_at"])
    .where("m.status", "=", "pending")
    .where("m.outcome_at", "is", null)
    .where("i.status", "!=", "connected")
    .where("m.deadline", "<", sql<Date>`now()`)
    .limit(AT_ONCE)
    .execute();
  await Promise.all(
    overdue.map(({ id, submitted_at }) => {
      const has_begun = submitted_at !== null;
      const error = has_begun ? SEND_ERROR.unknownOutcome : SEND_ERROR.neverConnected;
      return outcomes.record({
        id,
        status: "failed",
        at: new Date(),
        error,
        job: null,
        unless_begun: !has_begun,
      });
    }),
  );
}
