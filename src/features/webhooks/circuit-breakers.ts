import type { Lane } from "../../engine/engine.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { failureWeightOf, isSuccess } from "./decide-attempt.ts";
import type { CompletedAttempt } from "./to-attempt-record.ts";

/** The breakers of the lanes that this node owns. */
export interface CircuitBreakers {
  /** The pause of the receiver after this attempt in milliseconds; undefined to continue. */
  pauseAfter(tried: CompletedAttempt, beganAt: number): number | undefined;
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
    pauseAfter(tried, beganAt) {
      const { outcome, verdict } = tried;
      const sample = {
        success: isSuccess(outcome),
        weight: failureWeightOf(outcome),
        beganAt,
        at: performance.now(),
      };
      const askedMs = verdict.decision === "retry" && verdict.pauseLane ? verdict.delayMs : 0;
      return Math.max(breakerOf(tried).record(sample) ?? 0, askedMs) || undefined;
    },
    delete: (lane) => void breakers.delete(lane.id),
  };
}
