import type { JobResult } from "../../../../engine/engine.ts";
import { retryUntilCommitted } from "../../../../engine/retry-until-committed.ts";
import { faultPoint } from "../../../../platform/fault-point.ts";
import type { SendError } from "../../../../platform/send-reasons.ts";
import { inSpan, type NewSpan, traceParentOf } from "../../../../platform/tracing/tracing.ts";
import type { SendOutcome } from "../record-outcome.ts";
import { SEND_ERROR } from "../send-error.ts";
import { clearSubmitted, type UnknownOutcome, waitForUnknownOutcome } from "../submit-sends.ts";
import type { SendContext } from "./send-context.ts";
import { traceOf } from "./submission-span.ts";

/** The shortest wait before the next check of a send. */
export const TRY_AGAIN_MS = 1000;

/** Leaves the row unchanged; the lane pauses until a send may go out. */
export const NOT_YET: JobResult = { end: "committed" };

export function retryIn(ms: number): JobResult {
  return { end: "retry", at: new Date(Date.now() + ms) };
}

/** Records the outcome, which ends the job in the same commit. */
export async function endSend(context: SendContext, outcome: DecidedOutcome): Promise<JobResult> {
  const { awaited_by } = context.job.ref as { awaited_by?: string };
  await recordOutcome(context, outcome, awaited_by);
  faultPoint("send:after-outcome");
  return { end: "committed", deleted: true };
}

type DecidedOutcome = Omit<SendOutcome, "id" | "instance_id" | "job" | "awaited_by" | "trace">;

/** `awaited_by`: the node whose caller waits for it, if it has not been told that the outcome is unknown. */
export async function recordOutcome(
  context: SendContext,
  outcome: DecidedOutcome,
  awaited_by?: string,
): Promise<void> {
  const { deps, job, send } = context;
  const { id, instance_id } = send;
  await inSpan(
    "record outcome",
    () => spanOf(context, outcome),
    (span) => {
      const decided = { ...outcome, id, instance_id, job: job.id, awaited_by, trace: traceParentOf(span) };
      return retryUntilCommitted(deps.engine, job.lane, () => deps.outcomes.record(decided));
    },
  );
}

function spanOf(context: SendContext, { status, error }: DecidedOutcome): NewSpan {
  const { instance_id, message_id } = context.send;
  return {
    parent: traceOf(context),
    attributes: {
      "messaging.message.id": message_id,
      "waygate.instance.id": instance_id,
      "waygate.send.status": status,
      ...(error && { "error.type": error.code }),
    },
  };
}

export function failSend(context: SendContext, error: SendError): Promise<JobResult> {
  return endSend(context, { status: "failed", at: new Date(), error });
}

/** Returns the message to its campaign. Without the extension, its attempts end here. */
export async function withdrawSend(context: SendContext): Promise<JobResult> {
  const { deps, send } = context;
  if (!deps.withdraw) return failSend(context, SEND_ERROR.notBegun);
  await deps.withdraw(send.id);
  return { end: "done" };
}

/** Nothing was sent without a connection; the outcome of an earlier attempt is still unknown. */
export async function requeueSend({ deps: { db, engine }, job, send }: SendContext): Promise<JobResult> {
  if (send.submitted_at === null) await clearSubmitted(db, engine.node.id, job.lane, send.id);
  return retryIn(TRY_AGAIN_MS);
}

/** Waits with an unknown outcome, since a receipt may still report it. */
export async function waitForReceipt(
  context: SendContext,
  wait: Omit<UnknownOutcome, "id">,
): Promise<JobResult> {
  const { deps, job, send } = context;
  const { db, engine } = deps;
  const isOwned = await waitForUnknownOutcome(db, engine.node.id, job, { ...wait, id: send.id });
  return isOwned ? NOT_YET : loseLane(context);
}

export function loseLane({ deps: { engine }, job }: Pick<SendContext, "deps" | "job">): JobResult {
  engine.markLaneLost(job.lane.id);
  return { end: "committed" };
}
