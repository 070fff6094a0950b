import { type RawBuilder, sql } from "kysely";
import {
  type AttemptFailure,
  type BreakerSample,
  CircuitBreaker,
  failureOf,
} from "../../../core/webhooks/webhooks.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Db } from "../../../platform/db/database.ts";
import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import { cleanText } from "../../../platform/text/clean-text.ts";
import type { IntegrationStatus } from "../../../tables.ts";
import type { IntegrationFailure, IntegrationReason } from "../integration-reasons.ts";
import { type Integration, lanesOf } from "../integration-row.ts";
import { describeOutcome } from "./describe-outcome.ts";

/** An integration in the version that was saved when the work began. */
type SavedIntegration = Pick<Integration, "id" | "updated_at">;

/** What a response means. */
export interface Explanation {
  error: string;
  /** What the error is about; null: the kind of the outcome. */
  code: IntegrationReason | null;
}

/** What a provider knows of an outcome beyond the common rules. */
export interface ResponseReading extends Partial<Explanation> {
  failure?: AttemptFailure | undefined;
  status?: IntegrationStatus;
  /** The other side rejects every request until a user changes something. */
  isRejected?: boolean;
}

export interface HealthUpdate {
  /** Undefined after a success. */
  failure: AttemptFailure | undefined;
  /** The longest useful wait for a retry during a short unavailability of the other side. */
  longestWaitMs: number;
  /** How long a rejected request waits for its next attempt. */
  rejectedWaitMs: number;
  /** The integration was saved after the request began, so the result does not apply to it. */
  isStale: boolean;
}

/**
 * Records the results of requests to the other sides, and shows them to the integrations' owners. Pauses
 * deliveries to a side that mostly fails; a success ends the pause.
 */
export interface IntegrationHealth {
  /** Called after each request. */
  recordResponse(
    integration: Integration,
    outcome: FetchOutcome,
    beganAt: number,
    reading?: ResponseReading,
  ): Promise<HealthUpdate>;
  /** After a test request: its failure is shown, but pauses nothing. */
  noteTest(
    integration: Integration,
    outcome: FetchOutcome,
    beganAt: number,
    reading?: ResponseReading,
  ): Promise<void>;
  /** The other side was reached, but something went wrong; without a status it is a warning. */
  warn(
    integration: SavedIntegration,
    error: string,
    shown?: Pick<ResponseReading, "status" | "code">,
  ): Promise<void>;
}

const MINUTE_MS = 60_000;
const LONGEST_ERROR = 1_000;
/** Longer than a restart of the other side; until then it is polled every few seconds. */
const SHORT_UNAVAILABILITY_MS = 10 * MINUTE_MS;
const SHORT_UNAVAILABILITY_WAIT_MS = 12_000;
const FIRST_REFUSED_WAIT_MS = 5_000;
const LONGEST_REFUSED_WAIT_MS = 10 * MINUTE_MS;
/** Until then only the rejected event waits, and the other chats are attempted. */
const REFUSED_PAUSE_AFTER_MS = MINUTE_MS;

interface HealthState {
  /** The configuration to which this state belongs. */
  savedAt: number;
  breaker: CircuitBreaker;
  unreachableSince: number | undefined;
  /** A failure or warning was stored, and no success has followed yet. */
  isTroubled: boolean;
}

const STALE_UPDATE = {
  isStale: true,
  longestWaitMs: Number.POSITIVE_INFINITY,
  rejectedWaitMs: FIRST_REFUSED_WAIT_MS,
};

type ResponseSample = Omit<BreakerSample, "longestPauseMs">;

interface FailedResponse extends Problem {
  failure: AttemptFailure;
  isRejected: boolean;
  sample: ResponseSample;
}

interface HealthDeps {
  db: Db;
  engine: Pick<Engine, "pauseLane" | "wake">;
}

export function createIntegrationHealth(deps: HealthDeps): IntegrationHealth {
  const { db } = deps;
  const states = new HealthStates();
  return {
    async recordResponse(integration, outcome, beganAt, reading = {}) {
      const failure = reading.failure ?? failureOf(outcome);
      const state = states.of(integration);
      const sample = { success: !failure, weight: 1, beganAt, at: performance.now() } as const;
      if (!state) return { failure, ...STALE_UPDATE };
      if (!failure) return { failure, ...(await noteSucceeded(deps, state, integration, sample)) };
      const { isRejected = false } = reading;
      const failed = { failure, ...describe(outcome, reading), isRejected, sample };
      const note = { failure, ...(await noteFailed(deps, state, integration, failed)) };
      if (note.isStale) states.evict(integration.id, state);
      return note;
    },

    async noteTest(integration, outcome, beganAt, reading = {}) {
      if (reading.failure ?? failureOf(outcome)) {
        states.trouble(integration.id);
        await noteProblem(db, integration, describe(outcome, reading));
      } else await this.recordResponse(integration, outcome, beganAt, reading);
    },

    async warn(integration, error, shown = {}) {
      states.trouble(integration.id);
      const { code = null, status = sql`case when status = 'ok' then 'warning' else status end` } = shown;
      await noteProblem(db, integration, { status, error, code, params: null });
    },
  };
}

/** The state of each integration in this process, for the configuration that was saved last. */
class HealthStates {
  readonly #states = new Map<number, HealthState>();

  /** Undefined for a request under a configuration that has been replaced. */
  of({ id, updated_at }: Integration): HealthState | undefined {
    const savedAt = updated_at.getTime();
    const known = this.#states.get(id);
    if (known && known.savedAt >= savedAt) return known.savedAt === savedAt ? known : undefined;
    const state = { savedAt, breaker: new CircuitBreaker(), unreachableSince: undefined, isTroubled: false };
    this.#states.set(id, state);
    return state;
  }

  trouble(id: number): void {
    const state = this.#states.get(id);
    if (state) state.isTroubled = true;
  }

  evict(id: number, state: HealthState): void {
    if (this.#states.get(id) === state) this.#states.delete(id);
  }
}

type HealthEffect = Omit<HealthUpdate, "failure">;

async function noteSucceeded(
  { db, engine }: HealthDeps,
  state: HealthState,
  integration: Integration,
  sample: ResponseSample,
): Promise<HealthEffect> {
  state.breaker.record(sample);
  state.unreachableSince = undefined;
  const wasPaused = integration.paused_until !== null || state.isTroubled;
  await noteSuccess(db, integration, state);
  if (wasPaused) engine.wake(lanesOf(integration), { changed: true });
  return { ...STALE_UPDATE, isStale: false };
}

async function noteFailed(
  { db, engine }: HealthDeps,
  state: HealthState,
  integration: Integration,
  failed: FailedResponse,
): Promise<HealthEffect> {
  state.isTroubled = true;
  const now = Date.now();
  const refusedSince = integration.refused_since?.getTime() ?? now;
  const waits = waitsOf(state, failed.failure, now - refusedSince);
  const pauseLaneMs = pauseAfter(state, failed, now - refusedSince, waits);
  const isCurrent = await noteProblem(db, integration, failed, {
    refused_since: failed.isRejected ? new Date(refusedSince) : null,
    ...(pauseLaneMs !== undefined && {
      paused_until: sql<Date>`greatest(paused_until, now() + ${pauseLaneMs}::float8 * interval '1 millisecond')`,
    }),
  });
  if (!isCurrent) return STALE_UPDATE;
  if (pauseLaneMs !== undefined) for (const lane of lanesOf(integration)) engine.pauseLane(lane, pauseLaneMs);
  return { ...waits, isStale: false };
}

/** The waits of the next attempts; records since when the other side is unreachable. */
function waitsOf(state: HealthState, { isDown = false }: AttemptFailure, refusedMs: number) {
  const now = performance.now();
  const unreachableSince = isDown ? (state.unreachableSince ?? now) : undefined;
  state.unreachableSince = unreachableSince;
  const isShort = unreachableSince !== undefined && now - unreachableSince < SHORT_UNAVAILABILITY_MS;
  return {
    longestWaitMs: isShort ? SHORT_UNAVAILABILITY_WAIT_MS : Number.POSITIVE_INFINITY,
    rejectedWaitMs: Math.min(Math.max(refusedMs / 2, FIRST_REFUSED_WAIT_MS), LONGEST_REFUSED_WAIT_MS),
  };
}

function pauseAfter(
  { breaker }: HealthState,
  { failure, isRejected, sample }: FailedResponse,
  refusedMs: number,
  { rejectedWaitMs, longestWaitMs: longestPauseMs }: ReturnType<typeof waitsOf>,
): number | undefined {
  if (isRejected) return refusedMs < REFUSED_PAUSE_AFTER_MS ? undefined : rejectedWaitMs;
  // A final rejection says nothing about the next request.
  return failure.final ? undefined : breaker.record({ ...sample, longestPauseMs });
}

/** Without earlier trouble, only once a minute. */
async function noteSuccess(
  db: Db,
  { id, status, last_success_at, last_error_at, paused_until, refused_since, updated_at }: Integration,
  state: HealthState,
): Promise<void> {
  const succeededAt = last_success_at?.getTime() ?? 0;
  const isRecent = Date.now() - succeededAt < MINUTE_MS && succeededAt > (last_error_at?.getTime() ?? 0);
  const isQuiet = status === "ok" && paused_until === null && refused_since === null && !state.isTroubled;
  if (isRecent && isQuiet) return;
  state.isTroubled = false;
  await db
    .updateTable("integration")
    .set({ status: "ok", last_success_at: sql<Date>`now()`, paused_until: null, refused_since: null })
    .where("id", "=", id)
    .where(isSavedAt(updated_at))
    .execute();
}

interface Problem {
  status: IntegrationStatus | RawBuilder<unknown>;
  error: string;
  code: IntegrationReason | null;
  params: IntegrationFailure["params"] | null;
}

/** Returns false, and writes nothing, if the integration was saved since it was read. */
async function noteProblem(
  db: Db,
  { id, updated_at }: SavedIntegration,
  { status, error, code, params }: Problem,
  also: { refused_since?: Date | null; paused_until?: RawBuilder<Date> } = {},
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("integration")
    .set({
      ...also,
      status: sql<IntegrationStatus>`${status}`,
      last_error: cleanText(error).slice(0, LONGEST_ERROR),
      last_error_code: code,
      last_error_params: params && JSON.stringify(params),
      last_error_at: sql<Date>`clock_timestamp()`,
    })
    .where("id", "=", id)
    .where(isSavedAt(updated_at))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Whether the row is unchanged since it was read; JavaScript dates have only milliseconds. */
export function isSavedAt(updatedAt: Date) {
  return sql<boolean>`date_trunc('milliseconds', updated_at) = ${updatedAt}`;
}

/** What the provider read; otherwise why the other side sent no response, or `status` if it refused the request. */
function describe(outcome: FetchOutcome, reading: ResponseReading): Problem {
  const { error = describeOutcome(outcome), status = "failing" } = reading;
  if (outcome.outcome === "failed")
    return { status, error, code: reading.code ?? outcome.failure, params: {} };
  const { status: code } = outcome;
  return {
    status: code === 401 || code === 403 ? "auth_error" : status,
    error,
    code: reading.code ?? (code >= 400 && code < 500 ? "status" : null),
    params: { status: code },
  };
}
