import { describe, expect, it } from "vitest";
import { toFailedResult } from "../operations/operation-error.ts";
import { messageRefusalOf } from "./whatsapp-error.ts";

/** An error response as Baileys reports it. */
const libraryError = (text: string, data: number) => Object.assign(new Error(text), { data });

describe("an error of the network", () => {
  it.each([
    ["forbidden", 403, "FORBIDDEN", "member"],
    ["item-not-found", 404, "NOT_FOUND", "does not know"],
    ["not-acceptable", 406, "VALIDATION_ERROR", "values"],
    ["conflict", 409, "CONFLICT", "another device"],
    ["resource-limit", 419, "CONFLICT", "full"],
  ])("%s (%s) of an operation has a code and a text of the gateway", (text, number, code, word) => {
    const reported = toFailedResult(libraryError(text, number));
    expect(reported).toEqual({ outcome: "refused", code, reason: expect.stringContaining(word) });
    expect(JSON.stringify(reported)).not.toContain(text);
  });

  it("with an unknown number keeps it, and a network failure is not reported as a refusal", () => {
    expect(toFailedResult(libraryError("strange", 487))).toMatchObject({
      code: "SEND_FAILED",
      reason: "The network refused the request (487).",
    });
    expect(toFailedResult(libraryError("internal-server-error", 500))).toMatchObject({ outcome: "failed" });
  });

  it("of a message is explained in a sentence, followed by its number", () => {
    expect(messageRefusalOf("403").reason).toBe(
      "The network does not allow the instance to send to this chat (403).",
    );
    expect(messageRefusalOf("999").reason).toBe("The network refused the message (999).");
  });
});
