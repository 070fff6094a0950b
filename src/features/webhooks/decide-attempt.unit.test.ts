import { expect, test } from "vitest";
import type { FetchOutcome } from "../../platform/outgoing/safe-fetch.ts";
import { decideAttempt } from "./decide-attempt.ts";
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

test("only a 2xx response is a delivery", () => {
  expect(decideAttempt(answered(204), 1, plan).decision).toBe("delivered");
  for (const status of [199, 301, 302, 400, 404, 500]) {
    expect(decideAttempt(answered(status), 1, plan, middle).decision).toBe("retry");
  }
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
  expect(decideAttempt(refused, 10, plan).decision).toBe("failed");
  expect(decideAttempt(answered(500), 1, { ...plan, retryEnabled: false })).toMatchObject({
    decision: "failed",
    reason: "The receiver responded with 500.",
  });
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
  const date = new Date(Date.now() + 30_000).toUTCString();
  expect(decideAttempt(asking(503, date), 1, plan)).toMatchObject({ pauseLane: true });
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
