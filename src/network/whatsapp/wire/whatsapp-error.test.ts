import { describe, expect, it } from "vitest";
import { toFailedResult } from "../operations/operation-error.ts";
import { messageErrorReasonOf } from "./whatsapp-error.ts";

/** As the client library tells of an error answer. */
const libraryError = (text: string, data: number) => Object.assign(new Error(text), { data });

describe("a refusal of the network", () => {
  it.each([
    ["forbidden", 403, "FORBIDDEN", "member"],
    ["item-not-found", 404, "NOT_FOUND", "does not know"],
    ["not-acceptable", 406, "VALIDATION_ERROR", "values"],
    ["conflict", 409, "CONFLICT", "another device"],
    ["resource-limit", 419, "CONFLICT", "full"],
  ])("%s (%s) of a call has a code and words of ours", (text, number, code, word) => {
    const reported = toFailedResult(libraryError(text, number));
    expect(reported).toEqual({ outcome: "refused", code, reason: expect.stringContaining(word) });
    expect(JSON.stringify(reported)).not.toContain(text);
  });

  it("that nobody knows keeps its number, and trouble of the network's own is no refusal", () => {
    expect(toFailedResult(libraryError("strange", 487))).toMatchObject({
      code: "SEND_FAILED",
      reason: "The network refused the request (487).",
    });
    expect(toFailedResult(libraryError("internal-server-error", 500))).toMatchObject({ outcome: "failed" });
  });

  it("of a message is told in words, with its number behind them", () => {
    expect(messageErrorReasonOf("403")).toBe(
      "The network does not allow the instance to send to this chat (403).",
    );
    expect(messageErrorReasonOf("999")).toBe("The network refused the message (999).");
  });
});
