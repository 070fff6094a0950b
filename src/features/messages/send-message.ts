import type { Engine, Job, JobEnd } from "../../engine/engine.ts";
import { untilWritten } from "../../engine/until-written.ts";
import { createWriter, type Writer } from "../../engine/writer.ts";
import type { Content, SendResult, Session } from "../../network/driver.ts";
import type { Db } from "../../platform/db.ts";
import { faultPoint } from "../../platform/fault-point.ts";
import type { Log } from "../../platform/log.ts";
import { Semaphore } from "../../platform/semaphore.ts";
import { withinTime } from "../../platform/within-time.ts";
import { afterLostAck, isRepeatedAtOnce, type LostAckOptions, mayRepeat } from "./lost-acknowledgement.ts";
import { isNewChat, lockNewChats } from "./new-chats.ts";
import { loadContent } from "./outgoing-media.ts";
import { type ReaddressDeps, readdressSend } from "./readdress-send.ts";
import type { Outcome, OutcomeRecorder } from "./record-outcome.ts";
import { failedTry, lastTryError } from "./retry-send.ts";
import { SendBreakers } from "./send-breaker.ts";
import { newChatsLocked, SEND_ERROR, type SendError, toSendError } from "./send-error.ts";
import { SendPaces, type Turn } from "./send-pace.ts";
import { showDelay, showTyping } from "./show-typing.ts";
import {
  type Doubt,
  type PickedSend,
  pickSends,
  type SendRow,
  type Submission,
  type SubmissionResult,
  submitSends,
  unsubmit,
  waitForRetry,
  waitInDoubt,
} from "./submit-send.ts";

export interface SendRunnerOptions extends ReaddressDeps, LostAckOptions {
  db: Db;
  engine: Engine;
  log: Log;
  outcomes: OutcomeRecorder;
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
  ackTimeoutMs: number;
  /** How long a submitted send may still be tried again. */
  sendHoldMs: number;
  /** Gives a message that has not been submitted back to its campaign, which decides what becomes of it. */
  withdraw: (id: number) => Promise<void>;
}

/** Runs send jobs: the one place from which messages go to the network. */
export function createSendRunner(options: SendRunnerOptions): (job: Job) => Promise<JobEnd> {
  const runner = new SendRunner(options);
  return (job) => runner.run(job);
}

const TRY_AGAIN_MS = 1000;
/** A lock on new chats may be lifted before its time. */
const LOOK_AT_LOCK_MS = 600_000;
const FILES_IN_MEMORY_BYTES = 128 * 1024 * 1024;

class SendRunner {
  readonly #options: SendRunnerOptions;
  readonly #pickedSends: Writer<PickedSend, SendRow | undefined>;
  readonly #submitter: Writer<Submission, SubmissionResult>;
  readonly #files = new Semaphore(FILES_IN_MEMORY_BYTES);
  readonly #paces: SendPaces;
  readonly #breakers: SendBreakers;

  constructor(options: SendRunnerOptions) {
    const { db, engine, sendHoldMs } = options;
    this.#options = options;
    this.#paces = new SendPaces(engine);
    this.#breakers = new SendBreakers(options);
    engine.hear("instance", (key) => {
      const lane = engine.laneOf("session", key);
      if (lane) this.#paces.forget(lane.id);
    });
    this.#pickedSends = createWriter({
      write: (picked) => pickSends(db, engine.node.id, sendHoldMs, picked),
    });
    this.#submitter = createWriter({ write: (sends) => submitSends(db, engine.node.id, sendHoldMs, sends) });
  }

  async run(job: Job): Promise<JobEnd> {
    const turn = this.#paces.begin(job.lane.id);
    if (!turn) return NOT_YET;
    try {
      return await this.#run(job, turn);
    } finally {
      turn.end();
      this.#breakers.release(job);
    }
  }

  async #run(job: Job, turn: Turn): Promise<JobEnd> {
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

  /** Whether nothing that is known here holds it up. */
  #mayGo({ lane, grp }: Job): boolean {
    const instance = Number(lane.key);
    const isHere = this.#options.engine.isSafe() && this.#options.connectedSession(instance) !== undefined;
    return isHere && this.#options.numbers.isSettled(instance, grp);
  }

  /** It was submitted as it was read. */
  async #goOn(job: Job, send: SendRow, turn: Turn): Promise<JobEnd> {
    await turn.wait({ min: 0, max: 0, perMinute: null }, () => {});
    const session = this.#sessionFor(send);
    const { content } = send;
    if (!session || content.kind === "media") return this.#takeBack(job, send);
    return this.#go(job, send, session, content, turn);
  }

  async #begin(job: Job, send: SendRow, session: Session, turn: Turn): Promise<JobEnd> {
    const { content } = send;
    if (content.kind !== "media") return this.#start(job, send, session, content, turn);
    return this.#files.use(content.size, () => this.#startWithFile(job, send, session, turn));
  }

  /**
   * A send that would begin a chat while the network allows none: a campaign's goes back to its campaign, an async one
   * waits as long as it can be held, and whoever waits for an answer has it at once.
   */
  async #holdNewChat(job: Job, send: SendRow, until: Date): Promise<JobEnd> {
    if (send.origin === "campaign") return this.#withdraw(send);
    const forMs = until.getTime() - Date.now();
    // By the clock of the database the lock may last a moment longer.
    if (send.mode === "async" && forMs <= this.#options.sendHoldMs)
      return later(Math.min(Math.max(forMs, TRY_AGAIN_MS), LOOK_AT_LOCK_MS));
    return this.#fail(job, send, newChatsLocked(until));
  }

  /** A campaign waits until its account is in service again. */
  #refuseRestricted(job: Job, send: SendRow): Promise<JobEnd> {
    return send.origin === "campaign" ? this.#withdraw(send) : this.#fail(job, send, SEND_ERROR.restricted);
  }

  async #withdraw({ id }: SendRow): Promise<JobEnd> {
    await this.#options.withdraw(id);
    return { end: "done" };
  }

  /** The network has refused to begin a chat. In a known chat the same code means something else. */
  async #refuseNewChat(job: Job, send: SendRow, refused: Refusal): Promise<JobEnd> {
    const { db, engine } = this.#options;
    const { instance_id, jid, id } = send;
    if (!(await isNewChat(db, instance_id, jid))) return this.#fail(job, send, toSendError(refused));
    const until = await untilWritten(engine, job.lane, () => lockNewChats(db, instance_id, refused.until));
    engine.tell("instance", String(instance_id));
    await unsubmit(db, engine.node.id, job.lane, id);
    return this.#holdNewChat(job, send, until);
  }

  /** A send that may have reached the network: waits for a receipt, then the same id again, or not, as the instance says. */
  async #settleDoubt(job: Job, send: SendRow): Promise<JobEnd | undefined> {
    const waitMs = this.#options.doubtWaitMs - (send.doubt_ms ?? 0);
    if (isRepeatedAtOnce(job, send, this.#options)) return undefined;
    if (waitMs > 0) return this.#waitInDoubt(job, { id: send.id, wait_ms: waitMs });
    return mayRepeat(job, send, this.#options) ? undefined : this.#fail(job, send, SEND_ERROR.unknownOutcome);
  }

  async #startWithFile(job: Job, send: SendRow, session: Session, turn: Turn): Promise<JobEnd> {
    const content = await loadContent(this.#options.db, send.content);
    if (!content) return this.#fail(job, send, SEND_ERROR.fileGone);
    return this.#start(job, send, session, content, turn);
  }

  async #start(job: Job, send: SendRow, session: Session, content: Content, turn: Turn): Promise<JobEnd> {
    const submitted = await this.#submitter.write({ id: send.id, lane: job.lane, to: send.to });
    if (submitted === "lane_lost") return this.#loseLane(job);
    if (submitted === "too_late") return this.#fail(job, send, SEND_ERROR.notBegun);
    if (submitted === "withheld") return this.#withdraw(send);
    return this.#go(job, send, session, content, turn);
  }

  async #go(job: Job, send: SendRow, session: Session, content: Content, turn: Turn): Promise<JobEnd> {
    faultPoint("send:before-wire");
    turn.use();
    return this.#act(job, send, session, content);
  }

  async #act(job: Job, send: SendRow, session: Session, content: Content): Promise<JobEnd> {
    // Between the fence and the wire the process may have slept for longer than the lane was ours.
    if (!this.#options.engine.isSafe()) return this.#takeBack(job, send);
    const sending = session.send(send.jid, content, { id: send.message_id });
    faultPoint("send:after-wire");
    const result = await withinTime(sending, this.#options.ackTimeoutMs);
    if (result === undefined) {
      sending.then((late) => this.#recordLate(job, send, late)).catch(() => {});
      return this.#waitInDoubt(job, afterLostAck(job, send, this.#options));
    }
    faultPoint("send:after-ack");
    return this.#settle(job, send, result);
  }

  async #settle(job: Job, send: SendRow, result: SendResult): Promise<JobEnd> {
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

  /** The session was connected, and still this try did not reach the wire: waits longer each time, and not for ever. */
  async #tryLater(job: Job, send: SendRow, reason: string): Promise<JobEnd> {
    const { db, engine } = this.#options;
    await this.#breakers.failed(job, send);
    const failed = failedTry(job, send);
    if (failed.wait_ms === undefined) return this.#fail(job, send, lastTryError(failed, reason));
    return (await waitForRetry(db, engine.node.id, job, failed)) ? NOT_YET : this.#loseLane(job);
  }

  /** Never tried, for want of a connection; what an earlier try did is still in doubt. */
  async #takeBack(job: Job, send: SendRow): Promise<JobEnd> {
    const { db, engine } = this.#options;
    if (send.submitted_at === null) await unsubmit(db, engine.node.id, job.lane, send.id);
    return later(TRY_AGAIN_MS);
  }

  async #waitInDoubt(job: Job, doubt: Doubt): Promise<JobEnd> {
    const { db, engine } = this.#options;
    return (await waitInDoubt(db, engine.node.id, job, doubt)) ? { end: "settled" } : this.#loseLane(job);
  }

  #loseLane({ lane }: Job): JobEnd {
    this.#options.engine.laneLost(lane.id);
    return { end: "settled" };
  }

  /** The network's word counts whenever it comes, and then nobody waits any longer. */
  async #recordLate(job: Job, send: SendRow, result: SendResult): Promise<void> {
    if (result.outcome !== "accepted") return;
    const { engine, outcomes } = this.#options;
    const outcome = { ...accepted(send, result), job: job.id };
    await untilWritten(engine, job.lane, () => outcomes.record(outcome));
    engine.wake([job.lane.id], { changed: true });
  }

  async #fail(job: Job, { id }: SendRow, error: SendError): Promise<JobEnd> {
    return this.#conclude(job, { id, status: "failed", at: new Date(), error });
  }

  async #conclude(job: Job, outcome: Omit<Outcome, "job">): Promise<JobEnd> {
    const { engine, outcomes } = this.#options;
    await untilWritten(engine, job.lane, () => outcomes.record({ ...outcome, job: job.id }));
    faultPoint("send:after-outcome");
    return { end: "settled", deleted: true };
  }

  #sessionFor({ instance_id }: SendRow): Session | undefined {
    const { engine, connectedSession } = this.#options;
    return engine.isSafe() ? connectedSession(instance_id) : undefined;
  }
}

type Refusal = Extract<SendResult, { outcome: "refused" }>;

/** The row stays as it is; its lane pauses until a send may go out. */
const NOT_YET: JobEnd = { end: "settled" };

function accepted({ id }: SendRow, { at, media_ref }: Extract<SendResult, { outcome: "accepted" }>) {
  return { id, status: "sent", at, error: null, media_ref } as const;
}

function later(ms: number): JobEnd {
  return { end: "retry", at: new Date(Date.now() + ms) };
}
