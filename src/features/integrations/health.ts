import { sql } from "kysely";
import { cleanText } from "../../platform/clean-text.ts";
import type { Db } from "../../platform/db.ts";
import type { FetchOutcome } from "../../platform/safe-fetch.ts";
import type { IntegrationStatus } from "../../tables.ts";
import { Breaker } from "../webhooks/webhooks.ts";
import { type CallVerdict, describeOutcome, judgeCall } from "./error-policy.ts";
import type { Integration } from "./integration-row.ts";

/** Keeps how the calls to the other sides go: shown to their owners, and a side that mostly fails is left alone. */
export interface Health {
  /** After each call; `said`: what it means, in better words than ours. Answers how long to pause its lane, if at all. */
  note(
    integration: Integration,
    outcome: FetchOutcome,
    beganAt: number,
    said?: { status?: IntegrationStatus; error?: string },
  ): Promise<{ verdict: CallVerdict; pauseLaneMs: number | undefined }>;
  /** Something went wrong that no call tells of. */
  warn(integration: Pick<Integration, "id">, error: string, status?: IntegrationStatus): Promise<void>;
}

const MINUTE_MS = 60_000;
const LONGEST_ERROR = 1_000;

export function createHealth(db: Db): Health {
  const breakers = new Map<number, Breaker>();
  /** Integrations whose row says that they fail; jobs may have read it before. */
  const failing = new Set<number>();

  function breakerOf(id: number): Breaker {
    const breaker = breakers.get(id) ?? new Breaker();
    breakers.set(id, breaker);
    return breaker;
  }

  return {
    async note(integration, outcome, beganAt, said = {}) {
      const verdict = judgeCall(outcome);
      const success = verdict.verdict === "ok";
      const sample = { success, weight: 1, beganAt, at: performance.now() } as const;
      // What is refused for good says nothing about the next one.
      const pauseLaneMs = verdict.verdict === "stop" ? undefined : breakerOf(integration.id).record(sample);
      if (verdict.verdict === "ok") {
        const isKnown = isNotedAsWell(integration) && !failing.delete(integration.id);
        if (!isKnown) await noteSuccess(db, integration);
      } else {
        failing.add(integration.id);
        const status = said.status ?? verdict.status;
        const error = said.error ?? describeOutcome(outcome);
        await noteFailure(db, integration.id, { status, error, pauseMs: pauseLaneMs ?? null });
      }
      return { verdict, pauseLaneMs };
    },
    warn: ({ id }, error, status) => noteFailure(db, id, { error, pauseMs: null, ...(status && { status }) }),
  };
}

/** While all is well a success is noted only once a minute. */
function isNotedAsWell({ status, last_success_at, paused_until }: Integration): boolean {
  const isFresh = last_success_at !== null && Date.now() - last_success_at.getTime() < MINUTE_MS;
  return status === "ok" && isFresh && paused_until === null;
}

async function noteSuccess(db: Db, { id }: Integration): Promise<void> {
  await db
    .updateTable("integration")
    .set({ status: "ok", last_success_at: sql<Date>`now()`, paused_until: null })
    .where("id", "=", id)
    .execute();
}

interface Trouble {
  status?: IntegrationStatus;
  error: string;
  pauseMs: number | null;
}

async function noteFailure(db: Db, id: number, { status, error, pauseMs }: Trouble): Promise<void> {
  await db
    .updateTable("integration")
    .set({
      ...(status && { status }),
      last_error: cleanText(error).slice(0, LONGEST_ERROR),
      last_error_at: sql<Date>`now()`,
      paused_until: sql<Date | null>`coalesce(now() + ${pauseMs}::float8 * interval '1 millisecond', paused_until)`,
    })
    .where("id", "=", id)
    .execute();
}
