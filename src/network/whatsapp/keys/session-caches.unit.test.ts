import { expect, test } from "vitest";
import { SharedCaches } from "./session-caches.ts";

test("all sessions together cache at most 100,000 items, and each session sees only its own", () => {
  const shared = new SharedCaches();
  const [one, other] = [shared.forSession(), shared.forSession()].map((caches) =>
    caches.createCache<number>("devices"),
  );
  one?.set("first", 1);
  one?.set("second", 2);
  for (let n = 0; n < 99_999; n++) other?.set(`${n}`, n);
  expect([one?.get("first"), one?.get("second"), other?.get("first")]).toEqual([undefined, 2, undefined]);
  expect([other?.get("0"), other?.get("99998")]).toEqual([0, 99_998]);
});

test("the keys of all sessions share one budget, counted in characters", () => {
  const shared = new SharedCaches();
  const [one, other] = [shared.forSession(), shared.forSession()];
  one.setKey("first", "x");
  for (let n = 0; n < 48; n++) other.setKey(`${n}`, "x".repeat(1_000_000));
  expect([one.key("first"), other.key("0")]).toEqual([undefined, undefined]);
  expect(["1", "47"].map((name) => other.key(name)?.length)).toEqual([1_000_000, 1_000_000]);
});

test("a key that is known not to exist differs from one that is not cached", () => {
  const caches = new SharedCaches().forSession();
  caches.setKey("absent", null);
  expect([caches.key("absent"), caches.key("unknown")]).toEqual([null, undefined]);
});
