import { sql } from "kysely";
import type { Engine } from "../../../../engine/engine.ts";
import { type RecurringJob, runRecurringJobSoon } from "../../../../engine/recurring-jobs.ts";
import type { Db } from "../../../../platform/db/database.ts";
import type { SendError } from "../../../../platform/send-reasons.ts";
import type { TraceParent } from "../../../../platform/tracing/trace-parent.ts";
import type { InstanceStatus } from "../../../../tables.ts";
import type { OutcomeRecorder } from "../record-outcome.ts";
import { SEND_ERROR } from "../send-error.ts";
import { isSandboxOffSql } from "../sending-instance.ts";

const NAME = "stranded-sends";
const EVERY_MS = 5_000;
const AT_ONCE = 500;

/** Fails sends of instances that will not reconnect by themselves, including sends queued later. */
export function stuckSendsJob(db: Db, outcomes: OutcomeRecorder): RecurringJob {
  return { name: NAME, everyMs: EVERY_MS, run: () => failStuckSends(db, outcomes) };
}

/** Wakes the maintenance node so that it fails these sends at once. */
export async function failStuckSendsSoon(db: Db, engine: Pick<Engine, "wake">): Promise<void> {
  engine.wake(await runRecurringJobSoon(db, NAME), { changed: true });
}

interface StuckSend {
  id: number;
  instance_id: number;
  job: number;
  has_begun: boolean;
  is_removed: boolean;
  is_sandbox_off: boolean;
  status: InstanceStatus;
  /** The span that the send belongs to. */
  trace: TraceParent | null;
}

/**
 * Ends every send of an instance that is logged out, banned, about to be removed, or on a disabled sandbox.
 * Campaigns withdraw their queued sends themselves, so this ends only those that may have gone out.
 */
export async function failStuckSends(db: Db, outcomes: OutcomeRecorder): Promise<void> {
  for (;;) {
    const stuck = await findStuck(db);
    await Promise.all(
      stuck.map((send) =>
        outcomes.record({
          id: send.id,
          instance_id: send.instance_id,
          job: send.job,
          status: "failed",
          at: new Date(),
          error: send.has_begun ? SEND_ERROR.unknownOutcome : reasonOf(send),
          only_if_not_submitted: !send.has_begun,
          trace: send.trace ?? undefined,
        }),
      ),
    );
    if (stuck.length < AT_ONCE) return;
  }
}

async function findStuck(db: Db): Promise<StuckSend[]> {
  const { rows } = await sql<StuckSend>`
    select m.id, m.instance_id, j.id as job, m.submitted_at is not null as has_begun, i.removed_at is not null as is_removed, i.status,
      ${isSandboxOffSql} as is_sandbox_off, j.ref ->> 'trace' as trace
    from instance i
    join job j on j.lane = i.lane and j.ref ->> 'do' = 'send'
    join message m on m.id = (j.ref ->> 'message')::bigint
    where (i.removed_at is not null or i.status in ('logged_out', 'banned')
        or (i.jid is null and i.status <> 'connected') or ${isSandboxOffSql})
      and m.outcome_at is null and (m.status <> 'scheduled' or i.removed_at is not null)
      and (m.origin <> 'campaign' or m.submitted_at is not null or i.removed_at is not null)
    order by m.id limit ${AT_ONCE}`.execute(db);
  return rows;
}

function reasonOf({ is_removed, is_sandbox_off, status }: StuckSend): SendError {
  if (is_sandbox_off && !is_removed) return SEND_ERROR.sandboxOff;
  return SEND_ERROR[is_removed ? "removed" : status === "banned" ? "banned" : "loggedOut"];
}
