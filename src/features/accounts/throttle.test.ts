import { describe, expect, it } from "vitest";
import type { Clock } from "../../platform/clock.ts";
import { createThrottle } from "./throttle.ts";

const MINUTE = 60_000;

function start() {
  let now = 1_000;
  const clock: Clock = { now: () => new Date(now), monotonicMs: () => now };
  const throttle = createThrottle(clock);
  let peer = 0;
  const tryOnce = async (
    how: "right" | "wrong" | "cancelled",
    account = "bia@example.com",
    ip = `10.0.${peer++}.1`,
  ) => {
    const attempt = await throttle.begin(account, ip);
    attempt.end(how);
  };
  return {
    throttle,
    tryOnce,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

const refusedFor = (retryAfterSeconds: number) => ({ code: "RATE_LIMITED", retryAfterSeconds });

describe("sign-ins of one account", () => {
  it("are free for five failures, then wait 1 s, doubling up to 15 minutes", async () => {
    const { tryOnce, pass } = start();
    for (let i = 0; i < 5; i++) await tryOnce("wrong");
    const waits = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900];
    for (const seconds of waits) {
      await expect(tryOnce("right")).rejects.toMatchObject(refusedFor(seconds));
      pass(seconds * 1000);
      await tryOnce("wrong");
    }
  });

  it("start anew after a right one", async () => {
    const { tryOnce, pass } = start();
    for (let i = 0; i < 5; i++) await tryOnce("wrong");
    pass(1_000);
    await tryOnce("right");
    for (let i = 0; i < 5; i++) await tryOnce("wrong");
    await expect(tryOnce("right")).rejects.toMatchObject(refusedFor(1));
  });

  it("start anew after a quarter of an hour without any", async () => {
    const { tryOnce, pass } = start();
    for (let i = 0; i < 5; i++) await tryOnce("wrong");
    pass(15 * MINUTE + 1_001);
    for (let i = 0; i < 5; i++) await tryOnce("wrong");
  });

  it("do not slow down another account", async () => {
    const { tryOnce } = start();
    for (let i = 0; i < 5; i++) await tryOnce("wrong");
    await tryOnce("right", "caio@example.com");
  });

  it("that come at once are judged one after the other, so that none slips through", async () => {
    const { throttle } = start();
    const begun = await Promise.all(
      Array.from({ length: 5 }, (_, i) => throttle.begin("bia", `10.1.0.${i}`)),
    );
    const more = Array.from({ length: 10 }, (_, i) => throttle.begin("bia", `10.2.0.${i}`));
    for (const attempt of begun) attempt.end("wrong");
    for (const one of await Promise.allSettled(more)) {
      expect(one).toMatchObject({ status: "rejected", reason: refusedFor(1) });
    }
  });

  it("that come at once all pass when they are right", async () => {
    const { throttle } = start();
    const all = Array.from({ length: 15 }, async (_, i) => {
      const attempt = await throttle.begin("bia", `10.1.0.${i}`);
      await Promise.resolve();
      attempt.end("right");
    });
    await Promise.all(all);
  });

  it("that were not judged do not count", async () => {
    const { tryOnce } = start();
    for (let i = 0; i < 50; i++) await tryOnce("cancelled", "bia@example.com", "10.0.0.1");
    await tryOnce("right", "bia@example.com", "10.0.0.1");
  });
});

describe("sign-ins from one address", () => {
  it("are refused after twenty failures in 15 minutes, whatever the account, until the oldest is past", async () => {
    const { tryOnce, pass } = start();
    for (let i = 0; i < 20; i++) {
      await tryOnce("wrong", `user${i}`, "192.0.2.7");
      pass(1_000);
    }
    await expect(tryOnce("right", "caio", "192.0.2.7")).rejects.toMatchObject(refusedFor(880));
    await tryOnce("right", "caio", "192.0.2.8");
    pass(880_000);
    await tryOnce("right", "caio", "192.0.2.7");
  });

  it("are one address for a whole IPv6 network", async () => {
    const { tryOnce } = start();
    for (let i = 0; i < 20; i++) await tryOnce("wrong", `user${i}`, `2001:db8:1:2::${i + 1}`);
    await expect(tryOnce("right", "caio", "2001:db8:1:2:ffff::9")).rejects.toMatchObject({
      code: "RATE_LIMITED",
    });
    await tryOnce("right", "caio", "2001:db8:1:3::1");
  });
});
