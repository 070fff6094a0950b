import { Registry } from "prom-client";
import { afterAll, describe, expect, test } from "vitest";
import { growsLinearly } from "../../../../test/cpu-time.ts";
import type { Job } from "../../../engine/engine.ts";
import { createSafeFetch } from "../../../platform/outgoing/safe-fetch.ts";
import { createMessageCounters } from "../record/create-message-counters.ts";
import { readPicture } from "./prepare/read-media.ts";
import { readPageSummary } from "./prepare/read-page-summary.ts";
import {
  isRetriedImmediately,
  lastAttemptError,
  mayRetry,
  type RetryOptions,
  retryAfterLostAck,
  toFailedSendAttempt,
} from "./run/send-retries.ts";
import { type SendDelayRange, SendThrottle } from "./run/send-throttle.ts";
import type { FailedSendAttempt, SendRow } from "./submit-sends.ts";

test("every outcome that an alert counts begins at zero, since a rate misses the first count of a new series", async () => {
  const registry = new Registry();
  createMessageCounters(registry);
  const lines = (await registry.metrics()).split("\n");
  expect(lines).toContain('waygate_sends_total{outcome="sent",code=""} 0');
  expect(lines).toContain('waygate_sends_total{outcome="failed",code="UNKNOWN_OUTCOME"} 0');
  expect(lines).toContain('waygate_sends_total{outcome="failed",code="SEND_FAILED"} 0');
});

const lines: object[] = [];
const log = { warn: (fields: object) => void lines.push(fields) } as never;
const outgoing = createSafeFetch({ allowedHosts: ["external"], log });

afterAll(() => outgoing.close());

test("a picture whose address the policy forbids is rejected, and the log names its instance", async () => {
  const reading = readPicture({ outgoing }, { instance_id: 7 }, "url", "http://127.0.0.1:81/secret.png");
  await expect(reading).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  expect(lines).toEqual([{ host: "127.0.0.1:81", reason: "url", instance_id: 7 }]);
});

describe("the summary of a page", () => {
  test.each([
    [
      "prefers the metadata for previews",
      '<title>T</title><meta property="og:title" content="Shoes">',
      { title: "Shoes" },
    ],
    [
      "uses the title if there is nothing else",
      "<TITLE lang=en>\n Blue\n shoes </TITLE>",
      { title: "Blue shoes" },
    ],
    [
      "accepts single quotes and any order",
      "<meta content='A &amp; B &#39;x&#x27;' name=description>",
      { description: "A & B 'x'" },
    ],
    ["names the picture", '<meta property="og:image" content="/a.png"/>', { image: "/a.png" }],
    ["ends with its tag", '<meta property="og:title"><p content="x">', {}],
    ["contains no half characters", '<meta property="og:title" content="a&#55357;b">', { title: "a\ufffdb" }],
    [
      "decodes HTML entities",
      '<meta name="description" content="Caf&eacute; &euro;5">',
      { description: "Café €5" },
    ],
    [
      "ignores comments and scripts",
      '<!-- <meta name="description" content="x"> --><script>"<title>"</script>',
      {},
    ],
    ["ignores tags after the thousandth", `${"<i></i>".repeat(1_000)}<title>Late</title>`, {}],
    ["is empty if the page contains none", "<html><body>og:title</body></html>", {}],
  ])("%s", (_, html, summary) => expect(readPageSummary(Buffer.from(html))).toEqual(summary));

  const olá = Buffer.from("<title>Ol\xe1</title>", "latin1");
  test.each<[string, Buffer, string | undefined]>([
    ["the header", Buffer.from("<title>\xcf\xf0\xe8</title>", "latin1"), "text/html; charset=windows-1251"],
    [
      "a meta tag",
      Buffer.from('<meta charset="windows-1251"><title>\xcf\xf0\xe8</title>', "latin1"),
      "text/html",
    ],
  ])("is read in the charset of %s", (_, page, type) => {
    expect(readPageSummary(page, type)).toEqual({ title: "При" });
  });

  test("is read as ISO-8859-1 if it is no UTF-8, whatever it declares", () => {
    expect(readPageSummary(olá)).toEqual({ title: "Olá" });
    expect(readPageSummary(olá, "text/html; charset=utf-8")).toEqual({ title: "Olá" });
  });

  test("takes linear time for closing tags below many open ones", async () => {
    const html = (size: number) => "<i>".repeat(size / 64) + "</b>".repeat(size);
    expect(await growsLinearly(64_000, (size) => readPageSummary(Buffer.from(html(size))))).toBe(true);
  });

  test.each([
    "<meta ",
    "<meta a=",
    '<meta a="',
    "<",
    "<title",
    "<meta property=og:title content=",
    "&#x",
    "<!--",
    "&amp",
  ])("takes linear time for a page full of %j", async (unit) => {
    const isLinear = await growsLinearly(262_144, (size) =>
      readPageSummary(Buffer.from(unit.repeat(Math.ceil(size / unit.length)))),
    );
    expect(isLinear).toBe(true);
  });
});

const LANE = 7;

function startPaces() {
  const pauses: number[] = [];
  const paces = new SendThrottle({ pauseLane: (_lane: number, ms: number) => void pauses.push(ms) });
  /** Whether the lane allows a send now. */
  const send = async (range: SendDelayRange) => {
    const turn = paces.tryAcquire(LANE);
    const isNow = (await turn?.wait(range, () => {})) === true;
    if (isNow) turn?.markUsed();
    turn?.release();
    return isNow;
  };
  return { send, pauses, paces };
}

test("sends beyond an instance's rate wait until one of the minute's sends is available again", async () => {
  const { send, pauses } = startPaces();
  const range = { min: 0, max: 0, perMinute: 3 };
  const sent: boolean[] = [];
  for (let n = 0; n < 5; n++) sent.push(await send(range));
  expect(sent).toEqual([true, true, true, false, false]);
  // One send is allowed every 20 s. The lane polls up to 3 s earlier.
  expect(pauses.at(-1)).toBeGreaterThan(1_000);
  expect(pauses.at(-1)).toBeLessThanOrEqual(17_000);
});

test("removing the rate limit lets the next send proceed", async () => {
  const { send, paces } = startPaces();
  const range = { min: 0, max: 0, perMinute: 1 };
  expect([await send(range), await send(range)]).toEqual([true, false]);
  paces.invalidate(LANE);
  expect(await send({ min: 0, max: 0, perMinute: null })).toBe(true);
});

const OPTIONS: RetryOptions = { unknownOutcomeWaitMs: 30_000, mostUnconfirmed: { sandbox: 2 } };

const jobOf = (ref: { tries?: number; unconfirmed?: number }) => ({ ref }) as unknown as Job;

/** An API send on a session that stayed connected, with retries allowed. */
const sendOf = (changed: Partial<SendRow> = {}) =>
  ({
    id: 7,
    network: "whatsapp",
    on_unknown: "resend",
    origin: "api",
    is_restricted: false,
    is_overdue: false,
    is_reconnected: false,
    is_stale: false,
    submitted_at: null,
    ...changed,
  }) as SendRow;

describe("a send that did not reach the network", () => {
  test.each([
    [0, 2_000],
    [1, 10_000],
    [2, 60_000],
    [3, 300_000],
  ])("waits longer after each attempt: after %d earlier ones, %d ms with 20 %% jitter", (tries, waitMs) => {
    for (let n = 0; n < 50; n++) {
      const { attempts, wait_ms } = toFailedSendAttempt(jobOf({ tries }), sendOf());
      expect(attempts).toBe(tries + 1);
      expect(wait_ms).toBeGreaterThanOrEqual(0.8 * waitMs);
      expect(wait_ms).toBeLessThanOrEqual(1.2 * waitMs);
    }
  });

  test("spreads its retries over most of the jitter", () => {
    const waits = Array.from({ length: 200 }, () => toFailedSendAttempt(jobOf({}), sendOf()).wait_ms ?? 0);
    expect(Math.min(...waits)).toBeLessThan(1_800);
    expect(Math.max(...waits)).toBeGreaterThan(2_200);
  });

  test("is not retried after the fifth attempt", () => {
    expect(toFailedSendAttempt(jobOf({ tries: 4 }), sendOf())).toEqual({
      message: 7,
      is_outcome_unknown: false,
      attempts: 5,
      wait_ms: undefined,
    });
  });

  test("is not retried after the second attempt if it has waited long", () => {
    const stale = sendOf({ is_stale: true });
    expect(toFailedSendAttempt(jobOf({}), stale).wait_ms).toBeGreaterThan(0);
    expect(toFailedSendAttempt(jobOf({ tries: 1 }), stale).wait_ms).toBeUndefined();
  });

  test("has an unknown outcome if an earlier attempt was submitted", () => {
    const attempt = toFailedSendAttempt(jobOf({}), sendOf({ submitted_at: new Date() }));
    expect(attempt.is_outcome_unknown).toBe(true);
  });

  test("fails with the number of attempts and the reason, or as unknown if it may have arrived", () => {
    const failed: FailedSendAttempt = {
      message: 7,
      is_outcome_unknown: false,
      attempts: 5,
      wait_ms: undefined,
    };
    expect(lastAttemptError(failed, "the session is busy")).toMatchObject({
      code: "SEND_FAILED",
      message: expect.stringContaining("in 5 attempts: the session is busy"),
    });
    expect(lastAttemptError({ ...failed, is_outcome_unknown: true }, "busy").code).toBe("UNKNOWN_OUTCOME");
  });
});

describe("a send without a timely acknowledgement", () => {
  test("goes out again at once after the first attempt, and waits for a receipt after later ones", () => {
    const next = (unconfirmed?: number) => retryAfterLostAck(jobOf({ unconfirmed }), sendOf(), OPTIONS);
    expect(next()).toEqual({ wait_ms: 0, unconfirmed: 1, frees_chat: false });
    expect(next(1)).toEqual({ wait_ms: 30_000, unconfirmed: 2, frees_chat: false });
  });

  test("no longer makes its chat wait after the third attempt", () => {
    const isFreed = (unconfirmed: number) =>
      retryAfterLostAck(jobOf({ unconfirmed }), sendOf(), OPTIONS).frees_chat;
    expect([1, 2, 3].map(isFreed)).toEqual([false, true, true]);
  });

  test("counts only the attempts of the current connection", () => {
    const reconnected = sendOf({ is_reconnected: true });
    expect(retryAfterLostAck(jobOf({ unconfirmed: 5 }), reconnected, OPTIONS)).toEqual({
      wait_ms: 0,
      unconfirmed: 1,
      frees_chat: false,
    });
    expect(isRetriedImmediately(jobOf({ unconfirmed: 1 }), reconnected, OPTIONS)).toBe(false);
  });

  test("waits for a receipt if it may not go out again", () => {
    const final = sendOf({ on_unknown: "fail" });
    expect(retryAfterLostAck(jobOf({}), final, OPTIONS).wait_ms).toBe(30_000);
    expect(isRetriedImmediately(jobOf({ unconfirmed: 1 }), final, OPTIONS)).toBe(false);
  });

  test("skips the wait for a receipt only after its first attempt", () => {
    const isImmediate = (unconfirmed?: number) =>
      isRetriedImmediately(jobOf({ unconfirmed }), sendOf(), OPTIONS);
    expect([undefined, 1, 2].map(isImmediate)).toEqual([false, true, false]);
  });
});

describe("a send with an unknown outcome", () => {
  test("may go out again if its instance resends", () => {
    expect(mayRetry(jobOf({}), sendOf(), OPTIONS)).toBe(true);
  });

  test.each<[string, Partial<SendRow>]>([
    ["its instance reports such sends as failed", { on_unknown: "fail" }],
    ["it belongs to a campaign", { origin: "campaign" }],
    ["its account is restricted", { is_restricted: true }],
    ["its time is over", { is_overdue: true }],
  ])("does not go out again if %s", (_, changed) => {
    expect(mayRetry(jobOf({}), sendOf(changed), OPTIONS)).toBe(false);
  });

  test("does not go out again after the most attempts of its network", () => {
    const mayGo = (network: SendRow["network"], unconfirmed: number) =>
      mayRetry(jobOf({ unconfirmed }), sendOf({ network }), OPTIONS);
    expect([1, 2, 3].map((count) => mayGo("sandbox", count))).toEqual([true, false, false]);
    expect(mayGo("whatsapp", 1_000)).toBe(true);
  });
});
