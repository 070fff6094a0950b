import { describe, expect, test } from "vitest";
import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import { failureOf, NOT_THERE_YET } from "./attempt-failure.ts";

function answered(status: number, body = "", durationMs = 1): FetchOutcome {
  return { outcome: "response", status, headers: {}, body: Buffer.from(body), truncated: false, durationMs };
}

type Failed = Extract<FetchOutcome, { outcome: "failed" }>;

function failed(failure: Failed["failure"], durationMs = 1): Failed {
  return { outcome: "failed", failure, error: "No.", durationMs };
}

describe("a failed attempt at a webhook or an integration", () => {
  test.each([302, 400, 401, 404, 422])("with %i is a rejection, which the program has read", (status) => {
    expect(failureOf(answered(status))).toEqual({ stage: "after", final: "rejected" });
  });

  test.each(["blocked", "invalid_url"] as const)("is %s before the request, and stays so", (failure) => {
    expect(failureOf(failed(failure))).toEqual({ stage: "before", final: "rejected" });
  });

  test("has done nothing for certain if no connection stood, or the program asks to come later", () => {
    for (const failure of ["refused", "dns", "tls", "timeout_connect"] as const)
      expect(failureOf(failed(failure))).toEqual(NOT_THERE_YET);
    for (const status of [408, 425, 429, 503]) expect(failureOf(answered(status))).toEqual(NOT_THERE_YET);
  });

  test("may have acted after any other error of the server, or a request that got no response", () => {
    for (const status of [500, 502, 504, 520])
      expect(failureOf(answered(status))).toMatchObject({ stage: "attempt" });
    for (const failure of ["reset", "timeout_total", "protocol"] as const)
      expect(failureOf(failed(failure))).toMatchObject({ stage: "attempt" });
  });

  test("with 404 is a rejection by a program, and a proxy's page means that its program is unavailable", () => {
    expect(failureOf(answered(404, '{"message":"Session not found."}'))).toMatchObject({ stage: "after" });
    expect(failureOf(answered(404, "404 page not found\n"))).toEqual(NOT_THERE_YET);
  });

  test("shows that the program is unavailable only if a request did not run for long", () => {
    const isDownAfter = (ms: number) =>
      [failed("reset", ms), answered(504, "", ms), answered(502, "", ms), answered(500, "", ms)].map(
        (outcome) => failureOf(outcome)?.isDown,
      );
    expect(isDownAfter(4_999)).toEqual([true, true, true, false]);
    expect(isDownAfter(5_000)).toEqual([false, false, false, false]);
    expect(failureOf(answered(503, "", 5_000))).toEqual(NOT_THERE_YET);
  });
});
