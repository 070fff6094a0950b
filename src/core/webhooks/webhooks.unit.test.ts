import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import type { FetchOutcome } from "../../platform/outgoing/safe-fetch.ts";
import { DEFAULT_EVENTS } from "../events/contract.ts";
import { expandEvents, webhooksContract } from "./contract.ts";
import { describeFailure, failureOf, failureWeightOf } from "./delivery/attempt-failure.ts";
import { CircuitBreaker } from "./delivery/circuit-breaker.ts";
import { type AttemptDecision, decideAttempt } from "./delivery/decide-attempt.ts";
import { CaughtUpLanes, RecentDeliveries } from "./delivery/delivery-dispatcher.ts";
import { longestRetryScheduleMs } from "./delivery/retry-schedule.ts";
import { signBody, signStandard, signWaha } from "./delivery/webhook-signature.ts";

test("an empty filter means the specification's message and connection events", () => {
  expect(expandEvents([])).toEqual([...DEFAULT_EVENTS]);
  expect(expandEvents([])).toHaveLength(11);
});

test("the filter * means the 14 published names; an extra name must be named exactly", () => {
  expect(expandEvents(["*"])).toHaveLength(14);
  expect(expandEvents(["*"])).not.toContain("message.delivered");
  expect(expandEvents(["message.delivered"])).toEqual(["message.delivered"]);
});

test("a group filter means its published names, each once", () => {
  expect(expandEvents(["message.*", "message.sent"])).toHaveLength(7);
  expect(expandEvents(["webhook.*"])).toEqual(["webhook.sent", "webhook.failed", "webhook.retrying"]);
});

test.each([
  ["a line break in a value", { "X-A": "1\r\nX-Injected: yes" }],
  ["a bare line feed in a value", { "X-A": "1\nX-Injected: yes" }],
  ["a folded line in a value", { "X-A": "1\r\n 2" }],
  ["a character beyond ASCII in a value", { "X-A": "ação" }],
  ["a line break in a name", { "X-A\r\nX-B": "1" }],
  ["a space in a name", { "X A": "1" }],
  ["a colon in a name", { "X-A:": "1" }],
  ["no name", { "": "1" }],
  ["the host", { Host: "other.example" }],
  ["the length of the body", { "Content-Length": "1" }],
  ["the type of the body", { "content-type": "text/plain" }],
  ["a hop-by-hop header", { "Transfer-Encoding": "chunked" }],
  ["another hop-by-hop header", { Connection: "close" }],
  ["a proxy header", { "Proxy-Authorization": "x" }],
  ["the signature", { "X-Waygate-Signature": "sha256=00" }],
  ["the signature of the standard", { "webhook-signature": "v1,x" }],
  ["the name of the sender", { "User-Agent": "me" }],
  ["a value of 5,000 characters", { "X-A": "x".repeat(5_000) }],
  ["21 of them", Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`X-${n}`, "1"]))],
])("custom headers are rejected with %s", (_, headers) => {
  const webhook = (more: object) => ({ id: 1, url: "https://shop.example/hook", ...more });
  const { input } = webhooksContract.createWebhook;
  expect(input.safeParse(webhook({ headers: { "X-A": "1" } })).success).toBe(true);
  expect(input.safeParse(webhook({ headers })).success).toBe(false);
});

const INSTANCE = 7;

/** Events after `before` up to `last`, each with a delivery in each lane. */
function batch(before: number, last: number, ...lanes: number[]) {
  const deliveries = lanes.map((lane) => ({
    id: last,
    lane,
    prio: 1,
    pos: last,
    grp: "chat",
    run_at: new Date(),
    ref: {},
  }));
  return { instance_id: INSTANCE, before, last, deliveries, is_reported: false };
}

describe("a lane is caught up", () => {
  it("if this node has recorded every event since the lane was woken", () => {
    const lanes = new CaughtUpLanes();
    expect([...lanes.advance(batch(3, 4, 1))]).toEqual([]);
    expect([...lanes.advance(batch(4, 6, 1))]).toEqual([1]);
    expect([...lanes.advance(batch(6, 7))]).toEqual([1]);
    expect([...lanes.advance(batch(7, 8, 1))]).toEqual([1]);
  });

  it("only after it was woken itself: what another recorder queued for it may be unknown", () => {
    const lanes = new CaughtUpLanes();
    lanes.advance(batch(0, 1, 1, 2));
    expect([...lanes.advance(batch(2, 3, 1))]).toEqual([]);
    expect([...lanes.advance(batch(3, 4, 1, 2))]).toEqual([1]);
    expect([...lanes.advance(batch(4, 5, 1, 2))]).toEqual([1, 2]);
  });

  it("not by batches that are noted in another order than they were committed", () => {
    const lanes = new CaughtUpLanes();
    lanes.advance(batch(0, 1, 1));
    expect([...lanes.advance(batch(2, 3, 1))]).toEqual([]);
    expect([...lanes.advance(batch(1, 2, 1))]).toEqual([]);
    expect([...lanes.advance(batch(3, 4, 1))]).toEqual([1]);
  });

  it("apart from the lanes of other instances", () => {
    const lanes = new CaughtUpLanes();
    lanes.advance({ ...batch(0, 1, 1), instance_id: 8 });
    expect([...lanes.advance(batch(1, 2, 2))]).toEqual([]);
    expect([...lanes.advance({ ...batch(1, 2, 1), instance_id: 8 })]).toEqual([1]);
  });
});

const MB = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers();
  // Starts after 0 ms, the initial time of the last clearing.
  vi.advanceTimersByTime(1);
});
afterEach(() => {
  vi.useRealTimers();
});

function keep(
  recent: RecentDeliveries<string>,
  id: number,
  { readAtMs = performance.now(), bytes = 1 } = {},
): void {
  recent.keep(id, { delivery: `delivery ${id}`, readAtMs, bytes });
}

describe("a recent delivery", () => {
  it("is returned once", () => {
    const recent = new RecentDeliveries<string>();
    keep(recent, 1);
    keep(recent, 2);
    expect([recent.take(2), recent.take(2), recent.take(1), recent.take(3)]).toEqual([
      "delivery 2",
      undefined,
      "delivery 1",
      undefined,
    ]);
  });

  it("is forgotten a second after its statement was sent", () => {
    const recent = new RecentDeliveries<string>();
    const readAtMs = performance.now();
    vi.advanceTimersByTime(500);
    keep(recent, 1, { readAtMs });
    keep(recent, 2, { readAtMs });
    vi.advanceTimersByTime(499);
    expect(recent.take(1)).toBe("delivery 1");
    vi.advanceTimersByTime(1);
    expect(recent.take(2)).toBeUndefined();
  });

  it("is forgotten after a change, also if its statement returns after the change", () => {
    const recent = new RecentDeliveries<string>();
    const readAtMs = performance.now();
    keep(recent, 1);
    recent.clear();
    keep(recent, 2, { readAtMs });
    vi.advanceTimersByTime(1);
    keep(recent, 3);
    expect([recent.take(1), recent.take(2), recent.take(3)]).toEqual([undefined, undefined, "delivery 3"]);
  });

  it("is not kept beyond 16 MB, and those that were taken, forgotten or cleared leave their place", () => {
    const recent = new RecentDeliveries<string>();
    keep(recent, 1, { bytes: 10 * MB });
    keep(recent, 2, { bytes: 7 * MB });
    expect([recent.take(2), recent.take(1)]).toEqual([undefined, "delivery 1"]);
    keep(recent, 3, { bytes: 16 * MB });
    vi.advanceTimersByTime(2_000);
    keep(recent, 4, { bytes: 16 * MB });
    recent.clear();
    vi.advanceTimersByTime(1);
    keep(recent, 5, { bytes: 16 * MB });
    expect(recent.take(5)).toBe("delivery 5");
  });

  it("leaves no timer when none is kept", () => {
    const recent = new RecentDeliveries<string>();
    keep(recent, 1);
    vi.advanceTimersByTime(600);
    keep(recent, 2);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(2_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

const at = (seconds: number) => 1_000_000 + seconds * 1000;
const failure = (seconds: number) =>
  ({ success: false, weight: 1, beganAt: at(seconds), at: at(seconds) + 10 }) as const;
const success = (seconds: number) => ({ ...failure(seconds), success: true }) as const;

/** A breaker after `times` failures, one each second. */
function failing(times: number): CircuitBreaker {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < times; n++) breaker.record(failure(n));
  return breaker;
}

test("a few failures do not open the circuit breaker", () => {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < 9; n++) expect(breaker.record(failure(n))).toBeUndefined();
});

test("the tenth failure pauses for 30 s, and each failed probe doubles the pause up to 10 minutes", () => {
  const breaker = failing(9);
  const pauses = Array.from({ length: 7 }, (_, n) => breaker.record(failure(10 + n)));
  expect(pauses).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000]);
});

test("one success after a pause closes the circuit breaker and clears its failures", () => {
  const breaker = failing(10);
  expect(breaker.record(success(40))).toBeUndefined();
  for (let n = 0; n < 9; n++) expect(breaker.record(failure(41 + n))).toBeUndefined();
});

test("the breaker stays closed at three successes in ten, and opens below that", () => {
  const fair = new CircuitBreaker();
  for (let n = 0; n < 20; n++) expect(fair.record(n % 3 === 0 ? success(n) : failure(n))).toBeUndefined();
  const poor = new CircuitBreaker();
  const pauses = Array.from({ length: 20 }, (_, n) => poor.record(n % 6 === 0 ? success(n) : failure(n)));
  expect(pauses.some((pause) => pause !== undefined)).toBe(true);
});

test("the breaker opens when exactly seven attempts in ten have failed", () => {
  const breaker = new CircuitBreaker();
  const results = [success(0), success(1), success(2), ...[3, 4, 5, 6, 7, 8, 9].map(failure)];
  expect(results.map((result) => breaker.record(result))).toEqual([...Array(9).fill(undefined), 30_000]);
});

test("a failure that is five minutes old does not count for the circuit breaker", () => {
  const breaker = failing(9);
  expect(breaker.record(failure(300))).toBeUndefined();
  expect(breaker.record(failure(300.5))).toBe(30_000);
});

test("only the last hundred attempts count for the circuit breaker", () => {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < 200; n++) breaker.record(success(n / 10));
  const pauses = Array.from({ length: 70 }, (_, n) => breaker.record(failure(20 + n / 10)));
  expect(pauses).toEqual([...Array(69).fill(undefined), 30_000]);
});

test("a failed probe doubles the pause even if all earlier failures are older than five minutes", () => {
  const breaker = failing(10);
  expect(breaker.record(failure(400))).toBe(60_000);
});

test("attempts that began before a pause count again once the circuit breaker is closed", () => {
  const breaker = failing(10);
  breaker.record(success(40));
  const late = Array.from({ length: 10 }, (_, n) => breaker.record({ ...failure(0), at: at(41 + n) }));
  expect(late.at(-1)).toBe(30_000);
});

test("a probe that begins in the moment of the pause counts as a probe", () => {
  const breaker = failing(10);
  expect(breaker.record({ ...failure(40), beganAt: failure(9).at })).toBe(60_000);
});

test("rejections that a retry will not change count double for the circuit breaker", () => {
  const breaker = new CircuitBreaker();
  const pauses = Array.from({ length: 5 }, (_, n) => breaker.record({ ...failure(n), weight: 2 }));
  expect(pauses).toEqual([undefined, undefined, undefined, undefined, 30_000]);
});

test("an attempt that started before the pause is not a probe and does not extend the pause", () => {
  const breaker = failing(9);
  const late = { ...failure(9), at: at(12) };
  expect(breaker.record(failure(10))).toBe(30_000);
  expect(breaker.record(late)).toBeUndefined();
  expect(breaker.record(failure(41))).toBe(60_000);
});

const plan = { scheduleMs: [5_000, 30_000, 120_000], maxAttempts: 10, retriesRejected: true };
const answered = (status: number): FetchOutcome => ({
  outcome: "response",
  status,
  headers: {},
  body: Buffer.alloc(0),
  truncated: false,
  durationMs: 1,
});
const asking = (status: number, value: string) => ({
  ...answered(status),
  headers: { "retry-after": value },
});
const refused: FetchOutcome = { outcome: "failed", failure: "refused", error: "refused", durationMs: 1 };
const middle = () => 0.5;
/** The first step of the schedule. */
const FIRST_STEP = { decision: "retry", delayMs: 5_000, pauseLane: false };

function decide(
  outcome: FetchOutcome,
  attempt: number,
  made: Parameters<typeof decideAttempt>[2],
  random?: () => number,
): AttemptDecision {
  return decideAttempt(failureOf(outcome), attempt, made, random);
}

function retryOf(decision: AttemptDecision): Extract<AttemptDecision, { decision: "retry" }> {
  if (decision.decision !== "retry") throw new Error(`The attempt is ${decision.decision}.`);
  return decision;
}

test("only a 2xx response is a delivery", () => {
  for (const status of [200, 204, 299])
    expect(decide(answered(status), 1, plan)).toEqual({ decision: "delivered" });
  for (const status of [199, 300, 301, 302, 400, 404, 500]) {
    expect(decide(answered(status), 1, plan, middle).decision).toBe("retry");
  }
});

test("a 200 response of a starting n8n is retried as a failure, and the same text elsewhere is not", () => {
  const saying = (status: number, text: string) => ({ ...answered(status), body: Buffer.from(text) });
  const starting = saying(200, "n8n is starting up. Please wait");
  expect(decide(starting, 1, plan, middle)).toEqual(FIRST_STEP);
  expect(describeFailure(starting)).toBe(
    "n8n was starting, so it responded with 200 and discarded the event.",
  );
  for (const text of ["I heard that n8n is starting up", `n8n is starting up${" and up".repeat(40)}`])
    expect(decide(saying(200, text), 1, plan)).toEqual({ decision: "delivered" });
});

test("each failure waits for the next step of the schedule, and later ones for the last step", () => {
  const delays = [1, 2, 3, 4, 9].map((attempt) => decide(refused, attempt, plan, middle));
  expect(delays).toEqual(
    [5_000, 30_000, 120_000, 120_000, 120_000].map((delayMs) => ({ ...FIRST_STEP, delayMs })),
  );
});

test("retry delays vary by up to 20 % in either direction", () => {
  expect(decide(refused, 1, plan, () => 0)).toMatchObject({ delayMs: 4_000 });
  expect(decide(refused, 1, plan, () => 1)).toMatchObject({ delayMs: 6_000 });
});

test("the last allowed attempt is final", () => {
  expect(decide(refused, 9, plan).decision).toBe("retry");
  expect(decide(refused, 10, plan)).toEqual({ decision: "failed", isGone: false });
});

test("a schedule without entries retries at once", () => {
  expect(decide(refused, 1, { ...plan, scheduleMs: [] })).toMatchObject({ delayMs: 0 });
});

test("Retry-After of 429 and 503 counts between one and two steps and pauses the webhook", () => {
  const asked = { decision: "retry", delayMs: 20_000, pauseLane: true };
  expect(decide(asking(429, "20"), 1, plan)).toEqual(asked);
  expect(decide(asking(503, "1"), 1, plan)).toMatchObject({ delayMs: 5_000 });
  expect(decide(asking(429, "86400"), 1, plan)).toMatchObject({ delayMs: 60_000 });
  expect(decide(asking(429, "86400"), 3, plan)).toMatchObject({ delayMs: 240_000 });
  expect(decide(asking(500, "20"), 1, plan, middle)).toEqual(FIRST_STEP);
});

test("a 429 response without Retry-After follows the schedule", () => {
  expect(decide(answered(429), 1, plan, middle)).toEqual(FIRST_STEP);
});

test("Retry-After may be a date, which counts from now", () => {
  const until = (date: number) => asking(503, new Date(date).toUTCString());
  const { delayMs, pauseLane } = retryOf(decide(until(Date.now() + 40_000), 1, plan));
  expect(delayMs).toBeGreaterThan(5_000);
  expect(delayMs).toBeLessThanOrEqual(40_000);
  expect(pauseLane).toBe(true);
  expect(decide(until(0), 1, plan)).toMatchObject({ delayMs: 5_000, pauseLane: true });
});

test.each([" 20 ", "020"])("Retry-After %j counts as twenty seconds", (value) => {
  expect(decide(asking(429, value), 1, plan)).toMatchObject({ delayMs: 20_000 });
});

test.each(["", " ", "soon", "20 seconds", "after 20", "20.5.5"])(
  "Retry-After %j is not valid, so the schedule decides",
  (value) => expect(decide(asking(429, value), 1, plan, middle)).toEqual(FIRST_STEP),
);

test("a rejection that a retry will not change counts double in the circuit breaker, and other failures once", () => {
  for (const status of [400, 404, 418, 499]) expect(failureWeightOf(answered(status))).toBe(2);
  for (const status of [399, 408, 409, 425, 429, 500, 503]) expect(failureWeightOf(answered(status))).toBe(1);
  expect(failureWeightOf(refused)).toBe(1);
});

test("a 410 response is final at once", () => {
  expect(decide(answered(410), 1, plan)).toMatchObject({ decision: "failed", isGone: true });
});

test("a retry schedule ends after twenty attempts even if the receiver asks for the longest delays", () => {
  const twenty = { ...plan, maxAttempts: 20 };
  let sum = 0;
  for (let attempt = 1; ; attempt++) {
    const verdict = decide(asking(429, "999999999"), attempt, twenty);
    if (verdict.decision !== "retry") break;
    sum += verdict.delayMs;
  }
  expect(longestRetryScheduleMs(plan.scheduleMs)).toBe(sum);
});

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

test("the specification's signature is the hex HMAC of the raw body under the complete secret", () => {
  expect(signBody(secret, Buffer.from('{"text":"Olá, Bia 👋"}'))).toBe(
    "sha256=40382c5c1f3d8727a4703875a3d23139b5e80e63dedc0d973f16c12f252d7186",
  );
});

test("the Standard Webhooks signature is that of the standard's own example", () => {
  const body = Buffer.from('{"test": 2432232314}');
  expect(signStandard(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)).toBe(
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
});

test("the standard's library verifies a body of 1 MB with characters beyond ASCII", () => {
  const body = JSON.stringify({ text: "ação 👋 ".repeat(100_000) });
  const seconds = Math.floor(Date.now() / 1000);
  const headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(seconds),
    "webhook-signature": signStandard(secret, "evt_1", seconds, Buffer.from(body)),
  };
  expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
});

test.each(["?!AAAAAA", "AAAAAA?!", "AAAAAAA", "AAAA=", "AAAA====", "AAAAwhsec_AAAA", "whsec_AAAAAAA"])(
  "the secret %s is not base64, so its characters are the key of the Standard Webhooks signature",
  (text) => {
    const expected = createHmac("sha256", text).update("evt_1.7.{}").digest("base64");
    expect(signStandard(text, "evt_1", 7, Buffer.from("{}"))).toBe(`v1,${expected}`);
  },
);

test("the signature for receivers of WAHA is the hex HMAC-SHA512 of the raw body", () => {
  expect(signWaha("key", Buffer.from("The quick brown fox jumps over the lazy dog"))).toBe(
    "b42af09057bac1e2d41708e48a902e09b5ff7f12ab428a4fe86653c73dd248fb82f948a549f7b791a5b41915ee4d1ec3935357e4e2317250d0372afa2ebeeb3a",
  );
});
