import { describe, expect, test } from "vitest";
import type { Job } from "../../../../engine/engine.ts";
import type { FailedSendAttempt, SendRow } from "../submit-sends.ts";
import {
  isRetriedImmediately,
  lastAttemptError,
  mayRetry,
  type RetryOptions,
  retryAfterLostAck,
  toFailedSendAttempt,
} from "./send-retries.ts";

const OPTIONS: RetryOptions = { unknownOutcomeWaitMs: 30_000, mostUnconfirmed: { sandbox: 2 } };

const jobOf = (ref: { tries?: number; unconfirmed?: number }) => ({ ref }) as unknown as Job;

/** A send of the API on a session that has stayed connected, with retries allowed. */
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
