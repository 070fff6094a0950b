import { expect, test } from "vitest";
import type { FetchOutcome } from "../../platform/outgoing/safe-fetch.ts";
import { type AttemptDecision, decideAttempt, failureWeightOf } from "./decide-attempt.ts";
import { longestRetryScheduleMs } from "./retry-schedule.ts";

const plan = { scheduleMs: [5_000, 30_000, 120_000], retryEnabled: true, maxAttempts: 10 };
const answered = (status: number): FetchOutcome => ({
  outcome: "response",
  status,
  headers: {},
  body: Buffer.alloc(0),
  truncated: false,
  durationMs: 1,
});
const refused: FetchOutcome = { outcome: "failed", failure: "refused", error: "refused", durationMs: 1 };
const middle = () => 0.5;

function retryOf(decision: AttemptDecision): Extract<AttemptDecision, { decision: "retry" }> {
  if (decision.decision !== "retry") throw new Error(`The attempt is ${decision.decision}.`);
  return decision;
}

test("only a 2xx response is a delivery", () => {
  for (const status of [200, 204, 299])
    expect(decideAttempt(answered(status), 1, plan)).toEqual({ decision: "delivered" });
  for (const status of [199, 300, 301, 302, 400, 404, 500]) {
    expect(decideAttempt(answered(status), 1, plan, middle).decision).toBe("retry");
  }
});

test("a 200 response of n8n while it starts is a failure that is retried, and its words elsewhere are not", () => {
  const saying = (status: number, text: string) => ({ ...answered(status), body: Buffer.from(text) });
  const starting = saying(200, "n8n is starting up. Please wait");
  expect(decideAttempt(starting, 1, plan, middle)).toEqual({
    decision: "retry",
    delayMs: 5_000,
    pauseLane: false,
  });
  expect(decideAttempt(starting, 10, plan)).toMatchObject({
    decision: "failed",
    reason: "n8n was starting, so it responded with 200 and discarded the event.",
  });
  for (const text of ["I heard that n8n is starting up", `n8n is starting up${" and up".repeat(40)}`])
    expect(decideAttempt(saying(200, text), 1, plan)).toEqual({ decision: "delivered" });
});

test("each failure waits for the next step of the schedule, and later ones for the last step", () => {
  const delays = [1, 2, 3, 4, 9].map((attempt) => decideAttempt(refused, attempt, plan, middle));
  expect(delays).toEqual(
    [5_000, 30_000, 120_000, 120_000, 120_000].map((delayMs) => ({
      decision: "retry",
      delayMs,
      pauseLane: false,
    })),
  );
});

test("retry delays vary by up to 20 % in either direction", () => {
  expect(decideAttempt(refused, 1, plan, () => 0)).toMatchObject({ delayMs: 4_000 });
  expect(decideAttempt(refused, 1, plan, () => 1)).toMatchObject({ delayMs: 6_000 });
});

test("the last allowed attempt is final, as is the first one without retries", () => {
  expect(decideAttempt(refused, 10, plan)).toEqual({ decision: "failed", reason: "refused", isGone: false });
  expect(decideAttempt(answered(500), 1, { ...plan, retryEnabled: false })).toMatchObject({
    decision: "failed",
    reason: "The receiver responded with 500.",
    isGone: false,
  });
});

test("a schedule without entries retries at once", () => {
  expect(decideAttempt(refused, 1, { ...plan, scheduleMs: [] })).toMatchObject({ delayMs: 0 });
});

test("Retry-After of 429 and 503 counts between one and two steps and pauses the webhook", () => {
  const asking = (status: number, value: string) => ({
    ...answered(status),
    headers: { "retry-after": value },
  });
  expect(decideAttempt(asking(429, "20"), 1, plan)).toEqual({
    decision: "retry",
    delayMs: 20_000,
    pauseLane: true,
  });
  expect(decideAttempt(asking(503, "1"), 1, plan)).toMatchObject({ delayMs: 5_000 });
  expect(decideAttempt(asking(429, "86400"), 1, plan)).toMatchObject({ delayMs: 60_000 });
  expect(decideAttempt(asking(429, "86400"), 3, plan)).toMatchObject({ delayMs: 240_000 });
  expect(decideAttempt(asking(500, "20"), 1, plan, middle)).toMatchObject({
    delayMs: 5_000,
    pauseLane: false,
  });
});

test("a 429 response without Retry-After follows the schedule", () => {
  expect(decideAttempt(answered(429), 1, plan, middle)).toEqual({
    decision: "retry",
    delayMs: 5_000,
    pauseLane: false,
  });
});

test("Retry-After may be a date, which counts from now", () => {
  const asking = (date: number) => ({
    ...answered(503),
    headers: { "retry-after": new Date(date).toUTCString() },
  });
  const { delayMs, pauseLane } = retryOf(decideAttempt(asking(Date.now() + 40_000), 1, plan));
  expect(delayMs).toBeGreaterThan(5_000);
  expect(delayMs).toBeLessThanOrEqual(40_000);
  expect(pauseLane).toBe(true);
  expect(decideAttempt(asking(0), 1, plan)).toMatchObject({ delayMs: 5_000, pauseLane: true });
});

test.each([" 20 ", "020"])("Retry-After %j counts as twenty seconds", (value) => {
  const asking = { ...answered(429), headers: { "retry-after": value } };
  expect(decideAttempt(asking, 1, plan)).toMatchObject({ delayMs: 20_000 });
});

test.each(["", " ", "soon", "20 seconds", "after 20", "20.5.5"])(
  "Retry-After %j is not valid, so the schedule decides",
  (value) => {
    const asking = { ...answered(429), headers: { "retry-after": value } };
    expect(decideAttempt(asking, 1, plan, middle)).toEqual({
      decision: "retry",
      delayMs: 5_000,
      pauseLane: false,
    });
  },
);

test.each([400, 404, 418, 499])("a %d response counts double in the circuit breaker", (status) => {
  expect(failureWeightOf(answered(status))).toBe(2);
});

test.each([399, 408, 409, 425, 429, 500, 503])(
  "a %d response counts once in the circuit breaker",
  (status) => {
    expect(failureWeightOf(answered(status))).toBe(1);
  },
);

test("a failure without a response counts once in the circuit breaker", () => {
  expect(failureWeightOf(refused)).toBe(1);
});

test("a 410 response is final at once", () => {
  expect(decideAttempt(answered(410), 1, plan)).toMatchObject({ decision: "failed", isGone: true });
});

test("a retry schedule ends after twenty attempts even if the receiver asks for the longest delays", () => {
  const asking = { ...answered(429), headers: { "retry-after": "999999999" } };
  const twenty = { ...plan, maxAttempts: 20 };
  let sum = 0;
  for (let attempt = 1; ; attempt++) {
    const verdict = decideAttempt(asking, attempt, twenty);
    if (verdict.decision !== "retry") break;
    sum += verdict.delayMs;
  }
  expect(longestRetryScheduleMs(plan.scheduleMs)).toBe(sum);
});
