import { sql } from "kysely";
import type { Engine, Job } from "../../../../engine/engine.ts";
import type { Db } from "../../../../platform/db/database.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { SendRow } from "../submit-sends.ts";

/** If sends to this many chats in a row do not reach the network, the chats are not the cause. */
const CHATS_TO_OPEN = 3;
const FIRST_PAUSE_SECONDS = 15;
const LONGEST_PAUSE_SECONDS = 600;
/** Longer than a trial lasts; a trial normally reports its own end. */
const TRIAL_MS = 120_000;

interface LaneState {
  /** The chats whose sends failed since the last success. */
  chats: Set<string>;
  isOpen: boolean;
  /** In this process's monotonic time. */
  pausedUntil: number;
  /** The only job that may send while the breaker is open. */
  trial: number | undefined;
}

export interface SendCircuitBreakersOptions {
  db: Db;
  engine: Pick<Engine, "pauseLane">;
  log: Log;
}

/**
 * One circuit breaker per session lane. It opens when the sends of several chats in a row do not reach the
 * network, and pauses all sends. Then one send at a time goes out until the network accepts one. The
 * instance's row stores the duration of the pause.
 */
export class SendCircuitBreakers {
  readonly #options: SendCircuitBreakersOptions;
  readonly #lanes = new Map<number, LaneState>();

  constructor(options: SendCircuitBreakersOptions) {
    this.#options = options;
  }

  /** Whether the job may send now; otherwise its lane pauses. `pauseMs`: the row's value; null: closed. */
  allows({ id: job, lane: { id: lane } }: Job, pauseMs: number | null): boolean {
    const known = this.#lanes.get(lane);
    if (pauseMs === null && !known?.isOpen) return true;
    const state = known ?? this.#begin(lane);
    state.isOpen = true;
    if (pauseMs !== null) state.pausedUntil = performance.now() + pauseMs;
    if (state.trial === job) return true;
    const waitMs = state.trial === undefined ? state.pausedUntil - performance.now() : TRIAL_MS;
    if (waitMs <= 0) state.trial = job;
    this.#options.engine.pauseLane(lane, waitMs > 0 ? waitMs : TRIAL_MS);
    return waitMs <= 0;
  }

  /** Closes the breaker after an accepted send. */
  async succeeded({ lane: { id: lane } }: Job, { instance_id }: SendRow): Promise<void> {
    const state = this.#lanes.get(lane);
    if (!state) return;
    const { db, engine, log } = this.#options;
    // A database error here must not lose the outcome; the next send then closes the breaker.
    if (state.isOpen && !(await close(db, instance_id))) return;
    this.#lanes.delete(lane);
    if (!state.isOpen) return;
    log.info({ instance_id }, "sends reach the network again");
    engine.pauseLane(lane, 0);
  }

  /** Records a send that did not reach the network although the session is connected. */
  async failed({ id: job, lane: { id: lane } }: Job, { instance_id, jid }: SendRow): Promise<void> {
    const state = this.#lanes.get(lane) ?? this.#begin(lane);
    state.chats.add(jid);
    const opens = state.isOpen ? state.trial === job : state.chats.size >= CHATS_TO_OPEN;
    if (!opens) return;
    // A failure of a concurrent send adds no information.
    state.isOpen = true;
    state.trial = undefined;
    const pauseMs = await pause(this.#options.db, instance_id);
    state.pausedUntil = performance.now() + pauseMs;
    const about = { instance_id, pause_ms: Math.round(pauseMs) };
    this.#options.log.warn(
      about,
      "sends of several chats did not reach the network; all sends of the instance are paused",
    );
    this.#options.engine.pauseLane(lane, pauseMs);
  }

  /** Ends the job; if it was the trial, the next trial may begin. */
  release({ id: job, lane: { id: lane } }: Job): void {
    const state = this.#lanes.get(lane);
    if (state?.trial !== job) return;
    state.trial = undefined;
    this.#options.engine.pauseLane(lane, 0);
  }

  #begin(lane: number): LaneState {
    const state: LaneState = { chats: new Set(), isOpen: false, pausedUntil: 0, trial: undefined };
    this.#lanes.set(lane, state);
    return state;
  }
}

/** False: the database does not respond. */
function close(db: Db, instanceId: number): Promise<boolean> {
  const closed = db
    .updateTable("instance")
    .set({ sends_paused_until: null, send_pauses: 0 })
    .where("id", "=", instanceId)
    .execute();
  return closed.then(
    () => true,
    () => false,
  );
}

/** Returns the pause in milliseconds: doubled each time in a row, with 20 % random jitter. */
async function pause(db: Db, instanceId: number): Promise<number> {
  const seconds = sql`least(${LONGEST_PAUSE_SECONDS}, ${FIRST_PAUSE_SECONDS} * power(2, least(send_pauses, 10)))`;
  const { rows } = await sql<{ pause_ms: number }>`
    update instance set send_pauses = least(send_pauses + 1, 1000),
      sends_paused_until = now() + ${seconds} * (0.8 + 0.4 * random()) * interval '1 second'
    where id = ${instanceId}
    returning (extract(epoch from sends_paused_until - now()) * 1000)::float8 as pause_ms`.execute(db);
  return rows[0]?.pause_ms ?? 0;
}
