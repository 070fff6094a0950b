import { describe, expect, test } from "vitest";
import type { Session } from "../../network/driver.ts";
import { createLocalSession } from "../../network/remote-session.ts";
import type { OperationResult } from "../../network/session-operations.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { createSessionOperationRunner } from "./session-operations.ts";

/** A session of a network that supports only invitations. */
function sessionThat(invite: () => Promise<OperationResult<string>>): Session {
  return { groups: { invite } } as unknown as Session;
}

function asking(session: Session | undefined) {
  return createSessionOperationRunner({
    requireConnected: async () => undefined,
    findSession: async () => session && createLocalSession(session),
    timeoutMs: 20,
  });
}

const invite = (result: OperationResult<string>) =>
  asking(sessionThat(async () => result))(1, (session) => session.groups.invite("1@g.us" as never));

describe("a session operation", () => {
  test("returns the network's result", async () => {
    expect(await invite({ outcome: "done", value: "CODE" })).toBe("CODE");
  });

  test.each(["NOT_FOUND", "FORBIDDEN", "RECIPIENT_NOT_FOUND", "VALIDATION_ERROR", "CONFLICT"] as const)(
    "fails with the network's reason: %s",
    async (code) => {
      const refused = invite({ outcome: "refused", code, reason: "It said no." });
      await expect(refused).rejects.toMatchObject({ code, message: "It said no." });
    },
  );

  test("is rejected for a time if the network says for how long", async () => {
    const reason = "Too many questions.";
    await expect(
      invite({ outcome: "refused", code: "RATE_LIMITED", reason, retry_after_seconds: 90 }),
    ).rejects.toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 90 });
  });

  test("fails if the network does not respond, or not in time", async () => {
    await expect(invite({ outcome: "failed", reason: "Cut." })).rejects.toMatchObject({
      code: "SEND_FAILED",
    });
    const silent = asking(sessionThat(() => new Promise(() => undefined)));
    await expect(silent(1, (session) => session.groups.invite("1@g.us" as never))).rejects.toMatchObject({
      code: "SEND_TIMEOUT",
    });
  });

  test("can be repeated if it had no effect, and has an unknown outcome otherwise", async () => {
    const reason = "Gone.";
    await expect(invite({ outcome: "unreachable", reason })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(invite({ outcome: "unknown", reason })).rejects.toMatchObject({ code: "SEND_TIMEOUT" });
  });

  test("returns NOT_SUPPORTED if the network lacks it", async () => {
    const call = asking(sessionThat(async () => ({ outcome: "done", value: "" })));
    await expect(call(1, (session) => session.profile.get())).rejects.toMatchObject({
      code: "NOT_SUPPORTED",
      status: 501,
    });
  });

  test("requires a connected instance, and a session on this node", async () => {
    await expect(asking(undefined)(1, (session) => session.profile.get())).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryAfterSeconds: 5,
    });
    const call = createSessionOperationRunner({
      requireConnected: () => Promise.reject(new GatewayError("INSTANCE_NOT_CONNECTED", "Away.")),
      findSession: async () => undefined,
      timeoutMs: 20,
    });
    await expect(call(1, (session) => session.profile.get())).rejects.toMatchObject({
      code: "INSTANCE_NOT_CONNECTED",
    });
  });
});
