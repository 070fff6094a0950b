import { describe, expect, test } from "vitest";
import type { FetchOutcome } from "../../platform/outgoing/safe-fetch.ts";
import { classifyResponse, describeOutcome, retryDelayMs } from "./classify-response.ts";

function answered(status: number, body = "", headers: Record<string, string> = {}): FetchOutcome {
  return { outcome: "response", status, headers, body: Buffer.from(body), truncated: false, durationMs: 1 };
}

type Failed = Extract<FetchOutcome, { outcome: "failed" }>;

function failed(failure: Failed["failure"]): Failed {
  return { outcome: "failed", failure, error: "No.", durationMs: 1 };
}

describe("the error policy of integrations", () => {
  test.each([
    [200, "ok"],
    [204, "ok"],
    [302, "stop"],
    [400, "stop"],
    [404, "stop"],
    [408, "retry"],
    [425, "retry"],
    [429, "retry"],
    [500, "retry"],
    [503, "retry"],
    [520, "retry"],
  ])("treats %i as %s", (status, verdict) => expect(classifyResponse(answered(status)).class).toBe(verdict));

  test("a wrong token is distinguished from other rejections", () => {
    expect(classifyResponse(answered(401))).toEqual({ class: "stop", status: "auth_error" });
    expect(classifyResponse(answered(422))).toEqual({ class: "stop", status: "failing" });
  });

  test("a program's 404 is final, and a 404 of a proxy whose program is unavailable is retried", () => {
    expect(classifyResponse(answered(404, '{"message":"Session not found."}')).class).toBe("stop");
    expect(classifyResponse(answered(404, "404 page not found\n"))).toMatchObject({
      class: "retry",
      isSafe: true,
      isDown: true,
    });
  });

  test.each([
    ["refused", true],
    ["dns", true],
    ["timeout_connect", true],
    ["timeout_total", false],
    ["reset", false],
  ] as const)("after the failure %s, whether the request surely had no effect is %j", (failure, isSafe) => {
    expect(classifyResponse(failed(failure))).toMatchObject({ class: "retry", isSafe });
  });

  test.each([
    [408, true],
    [429, true],
    [503, true],
    [500, false],
    [502, false],
    [504, false],
  ] as const)("after an HTTP %i, whether the request surely had no effect is %j", (status, isSafe) => {
    expect(classifyResponse(answered(status))).toMatchObject({ class: "retry", isSafe });
  });

  test("a server that breaks off a long request counts as unavailable only if it surely did nothing", () => {
    const isDown = (outcome: FetchOutcome) => {
      const verdict = classifyResponse(outcome);
      return verdict.class === "retry" && verdict.isDown;
    };
    const isDownAfter = (durationMs: number) => [
      isDown({ ...failed("reset"), durationMs }),
      isDown({ ...answered(504), durationMs }),
      isDown({ ...answered(502), durationMs }),
      isDown({ ...answered(503), durationMs }),
      isDown({ ...failed("timeout_connect"), durationMs }),
    ];
    expect(isDownAfter(4_999)).toEqual([true, true, true, true, true]);
    expect(isDownAfter(5_000)).toEqual([false, false, false, true, true]);
  });

  test("an address that the gateway itself forbids is not retried", () => {
    expect(classifyResponse(failed("blocked")).class).toBe("stop");
  });

  test("increases each delay with some jitter and follows Retry-After up to one hour", () => {
    expect([1, 2, 3, 20].map((attempt) => retryDelayMs(attempt, undefined, () => 0.5))).toEqual([
      2_000, 5_000, 15_000, 600_000,
    ]);
    expect(retryDelayMs(1, undefined, () => 0)).toBe(1_600);
    const asked = (header: string) => {
      const verdict = classifyResponse(answered(429, "", { "retry-after": header }));
      return verdict.class === "retry" ? verdict.retryAfterMs : undefined;
    };
    expect(retryDelayMs(1, asked("120"))).toBe(120_000);
    expect([asked("999999"), asked("soon")]).toEqual([3_600_000, undefined]);
    expect(asked(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(55_000);
  });

  test("stores the readable text of an error response, without stack traces", () => {
    const body = JSON.stringify({ code: 404, message: "Not registered", stacktrace: "at secret.js" });
    expect(describeOutcome(answered(404, body))).toBe("The integration responded with 404: Not registered");
    expect(describeOutcome(answered(502, `<html>\n  ${"x".repeat(1000)}`)).length).toBeLessThan(350);
    expect(describeOutcome(answered(500))).toBe("The integration responded with 500.");
    expect(describeOutcome(answered(500, "null"))).toBe("The integration responded with 500: null");
  });
});
