import { type BatchWriter, createBatchWriter } from "../../../engine/batch-writer.ts";
import type { Engine, Job, JobResult } from "../../../engine/engine.ts";
import { retryUntilCommitted } from "../../../engine/retry-until-committed.ts";
import type { Content, SendResult, Session } from "../../../network/driver.ts";
import type { Db } from "../../../platform/db/database.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import { Semaphore } from "../../../platform/limits/semaphore.ts";
import { withTimeout } from "../../../platform/limits/with-timeout.ts";
import type { Log } from "../../../platform/log/log.ts";
import { loadOutgoingContent } from "./outgoing-file.ts";
import type { OutcomeRecorder, SendOutcome } from "./record-outcome.ts";
import { isNewChat, lockNewChats } from "./run/new-chats.ts";
import { type ReaddressDeps, readdressSend } from "./run/readdress-send.ts";
import {
  isRetriedImmediately,
  type LostAckOptions,
  mayRetry,
  retryAfterLostAck,
} from "./run/retry-after-lost-ack.ts";
import { SendCircuitBreakers } from "./run/send-circuit-breakers.ts";
import { type SendSlot, SendThrottle } from "./run/send-throttle.ts";
import { showDelay, showTyping } from "./run/show-typing.ts";
import { lastAttemptError, toFailedSendAttempt } from "./run/to-failed-send-attempt.ts";
import { newChatsLocked, SEND_ERROR, type SendError, toSendError } from "./send-error.ts";
import {
  type ClaimedSend,
  clearSubmitted,
  loadAndSubmitSends,
  type SendRow,
  type SendSubmission,
  type SendSubmissionResult,
  submitSends,
  type UnknownOutcome,
  waitForRetry,
  waitForUnknownOutcome,
} from "./submit-sends.ts";

export interface SendRunnerOptions extends ReaddressDeps, LostAckOptions {
  db: Db;
  engine: Engine;
  log: Log;
  outcomes: OutcomeRecorder;
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
  ackTimeoutMs: number;
  /** How long a submitted send may still be retried. */
  sendHoldMs: number;
  /** Returns an unsubmitted message to its campaign, which decides what to do with it. */
  withdraw: (id: number) => Promise<void>;
}

/** Runs send jobs: the one place from which messages go to the network. */
export function createSendRunner(options: SendRunnerOptions): (job: Job) => Promise<JobResult> {
  const runner = new SendRunner(options);
  return (job) => runner.run(job);
}

const TRY_AGAIN_MS = 1000;
/** A lock on new chats may be lifted before its time. */
const LOOK_AT_LOCK_MS = 600_000;
const FILES_IN_MEMORY_BYTES = 128 * 1024 * 1024;

class SendRunner {
  readonly #options: SendRunnerOptions;
  readonly #pickedSends: BatchWriter<ClaimedSend, SendRow | undefined>;
  readonly #submitter: BatchWriter<SendSubmission, SendSubmissionResult>;
  readonly #files = new Semaphore(FILES_IN_MEMORY_BYTES);
  readonly #paces: SendThrottle;
  readonly #breakers: SendCircuitBreakers;

  constructor(options: SendRunnerOptions) {
    const { db, engine, sendHoldMs } = options;
    this.#options = options;
    this.#paces = new SendThrottle(engine);
    this.#breakers = new SendCircuitBreakers(options);
    engine.hear("instance", (key) => {
      const lane = engine.laneOf("session", key);
      if (lane) this.#paces.forget(lane.id);
    });
    this.#pickedSends = createBatchWriter({
      write: (picked) => loadAndSubmitSends(db, engine.node.id, sendHoldMs, picked),
    });
    this.#submitter = createBatchWriter({
      write: (sends) => submitSends(db, engine.node.id, sendHoldMs, sends),
    });
  }

  async run(job: Job): Promise<JobResult> {
    const turn = this.#paces.begin(job.lane.id);
    if (!turn) return NOT_YET;
    try {
      return await this.#run(job, turn);
    } finally {
      turn.end();
      this.#breakers.release(job);
    }
  }

  async #run(job: Job, turn: SendSlot): Promise<JobResult> {
    faultPoint("send:before-submit");
    const { message: id } = job.ref as { message: number };
    const loaded = await this.#pickedSends.write({ id, lane: job.lane, may_go: this.#mayGo(job) });
    if (!loaded || loaded.outcome_at !== null) return { end: "done" };
    if (loaded.has_begun) return this.#goOn(job, loaded, turn);
    const to = await readdressSend(this.#options, loaded);
    const send = to ? { ...loaded, jid: to.jid, to } : loaded;
    const ended = send.submitted_at === null ? undefined : await this.#settleDoubt(job, send);
    if (ended) return ended;
    if (send.is_restricted) return this.#refuseRestricted(job, send);
    if (send.locked_until !== null) return this.#holdNewChat(job, send, send.locked_until);
    const session = this.#sessionFor(send);
    if (!session) return later(TRY_AGAIN_MS);
    if (!this.#breakers.admits(job, send.held_ms)) return NOT_YET;
    if (send.delay_ms !== null) return later(await showDelay(this.#options.db, session, send, send.delay_ms));
    const range = { min: send.pace_min, max: send.pace_max, perMinute: send.per_minute };
    const isNow = await turn.wait(range, () => showTyping(session, send.jid));
    return isNow ? this.#begin(job, send, session, turn) : NOT_YET;
  }

  /** Whether this node owns the lane, its session is connected, and the address of the chat is known. */
  #mayGo({ lane, grp }: Job): boolean {
    const instance = Number(lane.key);
    const isHere = this.#options.engine.isSafe() && this.#options.connectedSession(instance) !== undefined;
    return isHere && this.#options.numbers.isSettled(instance, grp);
  }

  /** The read has already marked it as submitted. */
  async #goOn(job: Job, send: SendRow, turn: SendSlot): Promise<JobResult> {
    await turn.wait({ min: 0, max: 0, perMinute: null }, () => {});
    const session = this.#sessionFor(send);
    const { content } = send;
    if (!session || content.kind === "media") return this.#takeBack(job, send);
    return this.#go(job, send, session, content, turn);
  }

  async #begin(job: Job, send: SendRow, session: Session, turn: SendSlot): Promise<JobResult> {
    const { content } = send;
    if (content.kind !== "media") return this.#start(job, send, session, content, turn);
    return this.#files.use(content.size, () => this.#startWithFile(job, send, session, turn));
  }

  /**
   * Handles a send that would begin a chat while the network rejects new chats. A campaign's send returns to
   * its campaign; an async send waits as long as it can be held; a sync caller gets the error at once.
   */
  async #holdNewChat(job: Job, send: SendRow, until: Date): Promise<JobResult> {
    if (send.origin === "campaign") return this.#withdraw(send);
    const forMs = until.getTime() - Date.now();
    // By the clock of the database the lock may last a moment longer.
    if (send.mode === "async" && forMs <= this.#options.sendHoldMs)
      return later(Math.min(Math.max(forMs, TRY_AGAIN_MS), LOOK_AT_LOCK_MS));
    return this.#fail(job, send, newChatsLocked(until));
  }

  /** A campaign waits until its account is active again. */
  #refuseRestricted(job: Job, send: SendRow): Promise<JobResult> {
    return send.origin === "campaign" ? this.#withdraw(send) : this.#fail(job, send, SEND_ERROR.restricted);
  }

  async #withdraw({ id }: SendRow): Promise<JobResult> {
    await this.#options.withdraw(id);
    return { end: "done" };
  }

  /** The network has rejected a new chat. In a known chat the same code has another meaning. */
  async #refuseNewChat(job: Job, send: SendRow, refused: RefusedResult): Promise<JobResult> {
    const { db, engine } = this.#options;
    const { instance_id, jid, id } = send;
    if (!(await isNewChat(db, instance_id, jid))) return this.#fail(job, send, toSendError(refused));
    const until = await retryUntilCommitted(engine, job.lane, () =>
      lockNewChats(db, instance_id, refused.until),
    );
    engine.tell("instance", String(instance_id));
    await clearSubmitted(db, engine.node.id, job.lane, id);
    return this.#holdNewChat(job, send, until);
  }

  /**
   * Handles a send that may have reached the network: waits for a receipt, then retries the same id if the
   * instance allows it.
   */
  async #settleDoubt(job: Job, send: SendRow): Promise<JobResult | undefined> {
    const waitMs = this.#options.doubtWaitMs - (send.doubt_ms ?? 0);
    if (isRetriedImmediately(job, send, this.#options)) return undefined;
    if (waitMs > 0) return this.#waitInDoubt(job, { id: send.id, wait_ms: waitMs });
    return mayRetry(job, send, this.#options) ? undefined : this.#fail(job, send, SEND_ERROR.unknownOutcome);
  }

  async #startWithFile(job: Job, send: SendRow, session: Session, turn: SendSlot): Promise<JobResult> {
    const content = await loadOutgoingContent(this.#options.db, send.content);
    if (!content) return this.#fail(job, send, SEND_ERROR.fileGone);
    return this.#start(job, send, session, content, turn);
  }

  async #start(
    job: Job,
    send: SendRow,
    session: Session,
    content: Content,
    turn: SendSlot,
  ): Promise<JobResult> {
    const submitted = await this.#submitter.write({ id: send.id, lane: job.lane, to: send.to });
    if (submitted === "lane_lost") return this.#loseLane(job);
    if (submitted === "too_late") return this.#fail(job, send, SEND_ERROR.notBegun);
    if (submitted === "withheld") return this.#withdraw(send);
    return this.#go(job, send, session, content, turn);
  }

  async #go(job: Job, send: SendRow, session: Session, content: Content, turn: SendSlot): Promise<JobResult> {
    faultPoint("send:before-wire");
    turn.use();
    return this.#act(job, send, session, content);
  }

  async #act(job: Job, send: SendRow, session: Session, content: Content): Promise<JobResult> {
    // The process may have been suspended after the fence for longer than it owned the lane.
    if (!this.#options.engine.isSafe()) return this.#takeBack(job, send);
    const sending = session.send(send.jid, content, { id: send.message_id });
    faultPoint("send:after-wire");
    const result = await withTimeout(sending, this.#options.ackTimeoutMs);
    if (result === undefined) {
      sending.then((late) => this.#recordLate(job, send, late)).catch(() => {});
      return this.#waitInDoubt(job, retryAfterLostAck(job, send, this.#options));
    }
    faultPoint("send:after-ack");
    return this.#settle(job, send, result);
  }

  async #settle(job: Job, send: SendRow, result: SendResult): Promise<JobResult> {
    switch (result.outcome) {
      case "accepted":
        await this.#breakers.succeeded(job, send);
        return this.#conclude(job, accepted(send, result));
      case "refused":
        if (result.code === "REACHOUT_TIMELOCK") return this.#refuseNewChat(job, send, result);
        return this.#fail(job, send, toSendError(result));
      case "not_sent":
        return result.is_offline ? this.#takeBack(job, send) : this.#tryLater(job, send, result.reason);
      case "unknown":
        return this.#waitInDoubt(job, { id: send.id, wait_ms: this.#options.doubtWaitMs });
    }
  }

  /**
   * The session was connected, but this attempt did not reach the network. The wait grows with each attempt,
   * up to a limit.
   */
  async #tryLater(job: Job, send: SendRow, reason: string): Promise<JobResult> {
    const { db, engine } = this.#options;
    await this.#breakers.failed(job, send);
    const failed = toFailedSendAttempt(job, send);
    if (failed.wait_ms === undefined) return this.#fail(job, send, lastAttemptError(failed, reason));
    return (await waitForRetry(db, engine.node.id, job, failed)) ? NOT_YET : this.#loseLane(job);
  }

  /** Not attempted, as there was no connection; the outcome of an earlier attempt is still unknown. */
  async #takeBack(job: Job, send: SendRow): Promise<JobResult> {
    const { db, engine } = this.#options;
    if (send.submitted_at === null) await clearSubmitted(db, engine.node.id, job.lane, send.id);
    return later(TRY_AGAIN_MS);
  }

  async #waitInDoubt(job: Job, doubt: UnknownOutcome): Promise<JobResult> {
    const { db, engine } = this.#options;
    return (await waitForUnknownOutcome(db, engine.node.id, job, doubt))
      ? { end: "settled" }
      : this.#loseLane(job);
  }

  #loseLane({ lane }: Job): JobResult {
    this.#options.engine.laneLost(lane.id);
    return { end: "settled" };
  }

  /** The network's response counts even when it is late; the send then stops waiting. */
  async #recordLate(job: Job, send: SendRow, result: SendResult): Promise<void> {
    if (result.outcome !== "accepted") return;
    const { engine, outcomes } = this.#options;
    const outcome = { ...accepted(send, result), job: job.id };
    await retryUntilCommitted(engine, job.lane, () => outcomes.record(outcome));
    engine.wake([job.lane.id], { changed: true });
  }

  async #fail(job: Job, { id }: SendRow, error: SendError): Promise<JobResult> {
    return this.#conclude(job, { id, status: "failed", at: new Date(), error });
  }

  async #conclude(job: Job, outcome: Omit<SendOutcome, "job">): Promise<JobResult> {
    const { engine, outcomes } = this.#options;
    await retryUntilCommitted(engine, job.lane, () => outcomes.record({ ...outcome, job: job.id }));
    faultPoint("send:after-outcome");
    return { end: "settled", deleted: true };
  }

  #sessionFor({ instance_id }: SendRow): Session | undefined {
    const { engine, connectedSession } = this.#options;
    return engine.isSafe() ? connectedSession(instance_id) : undefined;
  }
}

type RefusedResult = Extract<SendResult, { outcome: "refused" }>;

/** The row stays as it is; its lane pauses until a send may go out. */
const NOT_YET: JobResult = { end: "settled" };

function accepted({ id }: SendRow, { at, media_ref }: Extract<SendResult, { outcome: "accepted" }>) {
  return { id, status: "sent", at, error: null, media_ref } as const;
}

function later(ms: number): JobResult {
  return { end: "retry", at: new Date(Date.now() + ms) };
}
