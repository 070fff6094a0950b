import type { Lane } from "../../../engine/engine.ts";
import { failureWeightOf, isSuccess } from "./attempt-failure.ts";
import type { CompletedAttempt } from "./to-attempt-record.ts";

/** The breakers of the lanes that this node owns. */
interface CircuitBreakers {
  /** The pause of the receiver after this attempt in milliseconds; undefined to continue. */
  pauseAfter(completed: CompletedAttempt, beganAt: number): number | undefined;
  delete(lane: Lane): void;
}

export function createCircuitBreakers(): CircuitBreakers {
  const breakers = new Map<number, { url: string; breaker: CircuitBreaker }>();

  /** A changed URL counts as a new receiver. */
  function breakerOf({ job: { lane }, loaded: { webhook } }: CompletedAttempt): CircuitBreaker {
    const known = breakers.get(lane.id);
    if (known?.url === webhook.url) return known.breaker;
    const breaker = new CircuitBreaker();
    breakers.set(lane.id, { url: webhook.url, breaker });
    return breaker;
  }

  return {
    pauseAfter(completed, beganAt) {
      const { outcome, decision } = completed;
      const sample = {
        success: isSuccess(outcome),
        weight: failureWeightOf(outcome),
        beganAt,
        at: performance.now(),
      };
      const requestedMs = decision.decision === "retry" && decision.pauseLane ? decision.delayMs : 0;
      return Math.max(breakerOf(completed).record(sample) ?? 0, requestedMs) || undefined;
    },
    delete: (lane) => void breakers.delete(lane.id),
  };
}

/** The result of one attempt at a receiver. */
export interface BreakerSample {
  success: boolean;
  /** A rejection that a retry will hardly change counts double. */
  weight: 1 | 2;
  /** Start and end in milliseconds of the monotonic clock. */
  beganAt: number;
  at: number;
  /** The longest pause; default: 10 minutes. */
  longestPauseMs?: number;
}

const WINDOW_MS = 5 * 60_000;
const MIN_TRIES = 10;
const FAILED_SHARE = 0.7;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 10 * 60_000;

/**
 * Pauses for 30 s after 70 % of at least 10 attempts in 5 minutes have failed. Each failed probe doubles the
 * pause, up to 10 minutes.
 */
export class CircuitBreaker {
  #samples: BreakerSample[] = [];
  #pauseMs = 0;
  #pausedAt = 0;

  /** Returns the pause in milliseconds, or undefined to continue. */
  record(sample: BreakerSample): number | undefined {
    if (sample.success && this.#pauseMs > 0) {
      this.#samples = [];
      this.#pauseMs = 0;
      return undefined;
    }
    this.#samples = [...this.#samples.filter(({ at }) => sample.at - at < WINDOW_MS), sample].slice(-100);
    // An attempt that began before the pause is not a probe.
    if (sample.success || !this.#isFailing() || (this.#pauseMs > 0 && sample.beganAt < this.#pausedAt))
      return undefined;
    const nextMs = this.#pauseMs === 0 ? FIRST_PAUSE_MS : this.#pauseMs * 2;
    this.#pauseMs = Math.min(nextMs, sample.longestPauseMs ?? LONGEST_PAUSE_MS, LONGEST_PAUSE_MS);
    this.#pausedAt = sample.at;
    return this.#pauseMs;
  }

  #isFailing(): boolean {
    if (this.#pauseMs > 0) return true;
    const failed = this.#samples
      .filter(({ success }) => !success)
      .reduce((sum, { weight }) => sum + weight, 0);
    const all = this.#samples.reduce((sum, { success, weight }) => sum + (success ? 1 : weight), 0);
    return all >= MIN_TRIES && failed / all >= FAILED_SHARE;
  }
}
