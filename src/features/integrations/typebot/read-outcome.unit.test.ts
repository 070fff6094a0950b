import { describe, expect, test } from "vitest";
import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import { readOutcome } from "./read-outcome.ts";
import { savedTypebotConfig } from "./typebot-config.ts";

const config = savedTypebotConfig.parse({ base_url: "https://bot.example.com", public_id: "shop" });

function answered(status: number, body: string, durationMs: number): FetchOutcome {
  return { outcome: "response", status, headers: {}, body: Buffer.from(body), truncated: false, durationMs };
}

describe("the response of a bot", () => {
  test.each([
    ["a proxy reports at once that no viewer is behind it", "<html>502 Bad Gateway</html>", 5, true],
    ["a proxy reports so with an empty body", "", 5, true],
    [
      "a proxy reports so after the viewer had time to run the flow",
      "<html>502 Bad Gateway</html>",
      2_000,
      false,
    ],
    ["the viewer itself responds with 502", '{"message":"Bad Gateway"}', 5, false],
  ])("when %s: whether the bot surely received nothing is %j", (_, body, durationMs, isSafe) => {
    expect(readOutcome(answered(502, body, durationMs), config).responseClass).toMatchObject({
      class: "retry",
      isDown: true,
      isSafe,
    });
  });

  test.each([401, 403])("with %i makes messages wait until a person acts", (status) => {
    const reading = readOutcome(answered(status, "{}", 5), config);
    expect(reading).toMatchObject({ isRejected: true, responseClass: { status: "auth_error" } });
    expect(reading.error).toMatch(/Messages wait for one day/);
  });

  test("with 404 does not make messages wait for a person", () =>
    expect(readOutcome(answered(404, "{}", 5), config).isRejected).toBe(false));
});
