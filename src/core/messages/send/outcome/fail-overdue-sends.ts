import { sql } from "kysely";
import type { Db } from "../../../../platform/db/database.ts";
import type { OutcomeRecorder } from "../record-outcome.ts";
import { SEND_ERROR } from "../send-error.ts";
import { sendDeadlineSql } from "../submit-sends.ts";

const AT_ONCE = 500;

/** Fails sends that have waited too long for a connection or for the network. */
export async function failOverdueSends(db: Db, outcomes: OutcomeRecorder, holdMs: number): Promise<void> {
  const overdue = await db
    .selectFrom("message as m")
    .innerJoin("instance as i", "i.id", "m.instance_id")
    .select(["m.id", "m.instance_id", "m.submitted_at", "i.status"])
    .where("m.status", "=", "pending")
    .where("m.outcome_at", "is", null)
    .where(({ eb, and, or }) =>
      or([
        eb("i.status", "!=", "connected"),
        and([eb("i.send_pauses", ">", 0), eb("m.submitted_at", "is", null)]),
      ]),
    )
    .where(sendDeadlineSql(holdMs), "<", sql<Date>`now()`)
    .limit(AT_ONCE)
    .execute();
  await Promise.all(
    overdue.map(({ id, instance_id, submitted_at, status }) => {
      const has_begun = submitted_at !== null;
      const neverBegun = status === "connected" ? SEND_ERROR.neverReached : SEND_ERROR.neverConnected;
      const error = has_begun ? SEND_ERROR.unknownOutcome : neverBegun;
      return outcomes.record({
        id,
        instance_id,
        status: "failed",
        at: new Date(),
        error,
        job: null,
        only_if_not_submitted: !has_begun,
      });
    }),
  );
}
