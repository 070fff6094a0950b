import { describe, expect, test } from "vitest";
import { WaygateError } from "../client/client.ts";
import { CommandError } from "./command-error.ts";
import { toCommandError } from "./to-command-error.ts";

const URL = "http://127.0.0.1:3000";
const messageOf = (error: unknown) => toCommandError(error, URL).message;
const refusal = (status: number, body: unknown) =>
  new WaygateError(status, new Headers({ "x-request-id": "req_1" }), body);

describe("the failure of a command", () => {
  test("has the gateway's code and words, what to do at a command line, and the request", () => {
    expect(messageOf(refusal(401, { code: "INVALID_API_KEY", message: "The key is not valid." }))).toBe(
      [
        "INVALID_API_KEY: The key is not valid.",
        "Give the instance's current key with --key or WAYGATE_API_KEY.",
        "Request: req_1",
      ].join("\n"),
    );
  });

  test("has the advice of the reference for every other code", () => {
    expect(messageOf(refusal(413, { code: "PAYLOAD_TOO_LARGE", message: "Too large." }))).toContain(
      "Send less, or split the request.",
    );
  });

  test("says when the address is not that of a gateway", () => {
    expect(messageOf(refusal(404, "<html>"))).toBe(
      "http://127.0.0.1:3000 responded with status 404, and not as a Waygate gateway does. Check --url or WAYGATE_URL.",
    );
  });

  test("says when nothing listens there, or nothing responds", () => {
    const lost = new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } });
    expect(messageOf(lost)).toContain("http://127.0.0.1:3000 cannot be reached (ECONNREFUSED)");
    expect(messageOf(new DOMException("late", "TimeoutError"))).toContain("did not respond in time");
  });

  test("exists for a code and a message of any type", () => {
    for (const code of [7, {}, null, "__proto__"]) {
      expect(messageOf(refusal(400, { code, message: { deep: [] } }))).toMatch(/\w/);
    }
  });

  test("holds nothing that a terminal interprets", () => {
    const evil = { code: "\u001b[2J", message: "\u009b31m\u0007" };
    expect(messageOf(refusal(400, evil)).replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });

  test("stays as it is if it already says all, and a bug stays a bug", () => {
    const known = new CommandError("known");
    expect(toCommandError(known, URL)).toBe(known);
    expect(() => toCommandError(new RangeError("bug"), URL)).toThrow(RangeError);
  });
});
