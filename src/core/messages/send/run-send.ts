import { sql } from "kysely";
import { createBatchWriter } from "../../../engine/batch-queue.ts";
import type { Job, JobResult, Lane } from "../../../engine/engine.ts";
import type { AddedJob } from "../../../engine/job-store.ts";
import { retryUntilCommitted } from "../../../engine/retry-until-committed.ts";
import type { Content, Jid, SendResult, Session } from "../../../network/driver.ts";
import { phoneOfJid } from "../../../network/jid.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import { Semaphore } from "../../../platform/limits/semaphore.ts";
import { withTimeout } from "../../../platform/limits/with-timeout.ts";
import { sealForMessage } from "../log/seal-for-message.ts";
import { isNewChat, lockNewChats } from "./new-chats.ts";
import { loadOutgoingContent } from "./outgoing-file.ts";
import {
  endSend,
  failSend,
  loseLane,
  NOT_YET,
  recordOutcome,
  requeueSend,
  waitForReceipt,
  withdrawSend,
} from "./run/end-send.ts";
import { isScheduled, releaseDueSends } from "./run/release-due-sends.ts";
import { SendCircuitBreakers } from "./run/send-circuit-breakers.ts";
import type { SendContext, SendRunnerDeps, SendRunnerOptions } from "./run/send-context.ts";
import { holdUntilUnlocked, SEND_HOLDS } from "./run/send-holds.ts";
import { lastAttemptError, retryAfterLostAck, toFailedSendAttempt } from "./run/send-retries.ts";
import { type SendSlot, SendThrottle } from "./run/send-throttle.ts";
import { endWith, startSubmissionSpan } from "./run/submission-span.ts";
import { SEND_ERROR, toSendError } from "./send-error.ts";
import type { LaneOwner } from "./submit-accepted.ts";
import {
  clearSubmitted,
  loadAndSubmitSends,
  type SendRow,
  submitSends,
  waitForRetry,
} from "./submit-sends.ts";

/** A place for a send that begins in the statement that accepts it. Ends with `run` or `cancel`. */
export interface SendReservation {
  readonly lane: Lane;
  /** The fence of that statement. */
  readonly owner: LaneOwner;
  /** Continues the send, which the statement has submitted. */
  run(job: AddedJob, send: SendRow): void;
  /** The lane reads the job of the send, if there is one. */
  cancel(): void;
}

/** All messages to the network pass through here. */
export interface SendRunner {
  /** Runs a send job. */
  run(job: Job): Promise<JobResult>;
  /** A place for a send to this chat. Undefined: another node has the session, or the send must wait for its job. */
  reserve(instanceId: number, chat: Jid): SendReservation | undefined;
}

export function createSendRunner(options: SendRunnerOptions): SendRunner {
  const deps = createDeps(options);
  return {
    async run(job) {
      if (isScheduled(job)) return releaseDueSends(deps, job);
      const slot = deps.throttle.tryAcquire(job.lane.id);
      return slot ? runInSlot(deps, job, slot, () => runSend(deps, job, slot)) : NOT_YET;
    },
    reserve: (instanceId, chat) => reserveSend(deps, instanceId, chat),
  };
}

async function runInSlot(
  deps: SendRunnerDeps,
  job: Job,
  slot: SendSlot,
  run: () => Promise<JobResult>,
): Promise<JobResult> {
  try {
    return await run();
  } finally {
    slot.release();
    deps.breakers.release(job);
  }
}

function reserveSend(deps: SendRunnerDeps, instanceId: number, chat: Jid): SendReservation | undefined {
  const { engine, throttle } = deps;
  const lane = engine.findOwnedLane("session", String(instanceId));
  const slot = lane && mayGoAtOnce(deps, { lane, grp: chat }) ? throttle.findUnlimited(lane.id) : undefined;
  const place = lane && slot && engine.reserve(lane.id, chat);
  if (!place || !slot) return undefined;
  return {
    lane: place.lane,
    owner: { node: engine.node.id, lane: place.lane },
    run: (added, send) =>
      place.run(added, (job) => {
        const session = sessionOf(deps, instanceId);
        return runInSlot(deps, job, slot, () => continueSend({ deps, job, send, slot, session }));
      }),
    cancel: () => place.cancel(),
  };
}

const FILES_IN_MEMORY_BYTES = 128 * 1024 * 1024;

function createDeps(options: SendRunnerOptions): SendRunnerDeps {
  const { db, engine, sendHoldMs } = options;
  const throttle = new SendThrottle(engine);
  engine.subscribe("instance", (key) => {
    const lane = engine.findOwnedLane("session", key);
    if (lane) throttle.invalidate(lane.id);
  });
  return {
    ...options,
    throttle,
    breakers: new SendCircuitBreakers(options),
    loadAndSubmit: createBatchWriter({
      write: (claimed) => loadAndSubmitSends(db, engine.node.id, sendHoldMs, claimed),
    }),
    submitter: createBatchWriter({
      write: (sends) => submitSends(db, engine.node.id, sendHoldMs, sends),
    }),
    files: new Semaphore({ limit: FILES_IN_MEMORY_BYTES }),
  };
}

async function runSend(deps: SendRunnerDeps, job: Job, slot: SendSlot): Promise<JobResult> {
  faultPoint("send:before-submit");
  const { message: id } = job.ref as { message: number };
  const loaded = await deps.loadAndSubmit.write({ id, lane: job.lane, may_submit: mayGoAtOnce(deps, job) });
  if (!loaded || loaded.outcome_at !== null) return { end: "done" };
  const send = loaded.has_begun ? loaded : await readdressSend(deps, loaded);
  const context: SendContext = { deps, job, send, slot, session: sessionOf(deps, send.instance_id) };
  if (send.has_begun) return continueSend(context);
  for (const hold of SEND_HOLDS) {
    const paused = await hold(context);
    if (paused !== "go_on") return paused;
  }
  return submit(context);
}

/** Whether this node owns the lane, the session is connected, and the address of the chat is known. */
function mayGoAtOnce(deps: SendRunnerDeps, { lane, grp }: Pick<Job, "lane" | "grp">): boolean {
  const instance = Number(lane.key);
  return sessionOf(deps, instance) !== undefined && deps.numbers.isResolved(instance, grp);
}

function sessionOf({ engine, connectedSession }: SendRunnerDeps, instanceId: number): Session | undefined {
  return engine.isSafe() ? connectedSession(instanceId) : undefined;
}

/** Continues a send that was submitted in the statement that loaded or accepted it, since nothing held it. */
async function continueSend(context: SendContext): Promise<JobResult> {
  const { send, slot } = context;
  await slot.wait({ min: 0, max: 0, perMinute: null }, () => {});
  return send.content.kind === "media" ? requeueSend(context) : handOver(context, send.content);
}

/** Keeps a file in memory until the network has responded. */
async function submit(context: SendContext): Promise<JobResult> {
  const { deps, send } = context;
  const { content } = send;
  if (content.kind !== "media") return submitContent(context, content);
  const submit = async () => {
    const file = await loadOutgoingContent(deps.db, content);
    return file ? submitContent(context, file) : failSend(context, SEND_ERROR.fileGone);
  };
  return deps.files.use(submit, { weight: content.size });
}

async function submitContent(context: SendContext, content: Content): Promise<JobResult> {
  const { deps, job, send } = context;
  const submitted = await deps.submitter.write({ id: send.id, lane: job.lane, to: send.to });
  switch (submitted) {
    case "lane_lost":
      return loseLane(context);
    case "too_late":
      return failSend(context, SEND_ERROR.notBegun);
    case "withheld":
      return withdrawSend(context);
    case "submitted":
      return handOver(context, content);
  }
}

/** Hands the message to the network and waits for the response. */
async function handOver(context: SendContext, content: Content): Promise<JobResult> {
  const { deps, job, send, slot, session } = context;
  if (!session) return requeueSend(context);
  faultPoint("send:before-wire");
  slot.markUsed();
  // A suspended process may have lost the lane since it passed the fence.
  if (!deps.engine.isSafe()) return requeueSend(context);
  const span = startSubmissionSpan(context);
  const sending = session.send(send.jid, content, { id: send.message_id });
  faultPoint("send:after-wire");
  const response = withTimeout(sending, deps.ackTimeoutMs);
  const result = await (span ? endWith(span, response) : response);
  if (result === undefined) {
    sending.then((late) => recordLate(context, late)).catch(() => {});
    return waitForReceipt(context, retryAfterLostAck(job, send, deps));
  }
  faultPoint("send:after-ack");
  return decide(context, result);
}

async function decide(context: SendContext, result: SendResult): Promise<JobResult> {
  const { deps, job, send } = context;
  switch (result.outcome) {
    case "accepted":
      await deps.breakers.succeeded(job, send);
      return endSend(context, accepted(context, result));
    case "refused":
      if (result.code === "REACHOUT_TIMELOCK" && result.until) {
        return refuseNewChat(context, result, result.until);
      }
      return failSend(context, toSendError(result));
    case "not_sent":
      return result.is_offline ? requeueSend(context) : tryLater(context, result.reason);
    case "unknown":
      return waitForReceipt(context, { wait_ms: deps.unknownOutcomeWaitMs });
  }
}

function accepted(
  { deps: { box }, send: { instance_id, message_id } }: SendContext,
  { at, media_ref, secret }: Extract<SendResult, { outcome: "accepted" }>,
) {
  const sealed = sealForMessage(box, "secret", instance_id, message_id, secret);
  return { status: "sent", at, error: null, media_ref, secret: sealed } as const;
}

/** Handles the network's rejection of a new chat. In a known chat the same code has another meaning. */
async function refuseNewChat(
  context: SendContext,
  refused: Extract<SendResult, { outcome: "refused" }>,
  until: Date,
): Promise<JobResult> {
  const { deps, job, send } = context;
  const { db, engine } = deps;
  const { instance_id, jid, id } = send;
  if (!(await isNewChat(db, instance_id, jid))) return failSend(context, toSendError(refused));
  await retryUntilCommitted(engine, job.lane, () => lockNewChats(db, instance_id, until));
  engine.publish("instance", String(instance_id));
  await clearSubmitted(db, engine.node.id, job.lane, id);
  return holdUntilUnlocked(context, until);
}

/**
 * Schedules the next attempt after one that did not reach the network on a connected session. The wait grows
 * with each attempt, up to a limit.
 */
async function tryLater(context: SendContext, reason: string): Promise<JobResult> {
  const { deps, job, send } = context;
  await deps.breakers.failed(job, send);
  const failed = toFailedSendAttempt(job, send);
  if (failed.wait_ms === undefined) return failSend(context, lastAttemptError(failed, reason));
  return (await waitForRetry(deps.db, deps.engine.node.id, job, failed)) ? NOT_YET : loseLane(context);
}

/** A late response of the network still counts and ends the wait of the send. */
async function recordLate(context: SendContext, result: SendResult): Promise<void> {
  if (result.outcome !== "accepted") return;
  const { deps, job } = context;
  await recordOutcome(context, accepted(context, result));
  deps.engine.wake([job.lane.id], { changed: true });
}

/**
 * Looks up the network's address for a number with two formats, since no session may have been there at the
 * acceptance. A send that may have gone out keeps its address.
 */
async function readdressSend(
  { db, conversations, numbers }: SendRunnerDeps,
  send: SendRow,
): Promise<SendRow> {
  const { id, account_id, instance_id } = send;
  if (send.submitted_at !== null) return send;
  const jid = await numbers.resolve({ id: instance_id, account_id }, send.jid);
  if (jid === send.jid) return send;
  const person = { type: "contact", phone: phoneOfJid(jid), lid: null, push_name: null } as const;
  const conversation = await conversations.getOrCreate({ account_id, instance_id, jid, ...person });
  await sql`
    update conversation c set last_message_at = case when c.id = ${conversation.id} then now()
      else (select max(sent_at) from message m where m.conversation_id = c.id and m.id <> ${id}) end
    where c.id in (select id from conversation where id in (${conversation.id}, ${send.conversation_id})
      order by id for no key update)`.execute(db);
  return { ...send, jid: conversation.jid, to: conversation };
}
