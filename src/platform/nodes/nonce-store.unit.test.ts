import { expect, test } from "vitest";
import { createNonceStore } from "./nonce-store.ts";

let now = 0;
const clock = { now: () => new Date(now), monotonicMs: () => now };

test("a nonce is stored for as long as required, also across a rotation", () => {
  const nonces = createNonceStore({ clock, retentionMs: 100, max: 10 });
  now += 99;
  expect(nonces.add("one")).toBe("new");
  now += 99;
  expect(nonces.add("two")).toBe("new");
  expect(nonces.add("one")).toBe("seen");
  now += 100;
  expect(nonces.add("two")).toBe("seen");
  expect(nonces.add("one")).toBe("new");
  now += 1000;
  expect(nonces.add("two")).toBe("new");
});

test("the nonce store is bounded: a nonce beyond its size is refused, and none is evicted", () => {
  const nonces = createNonceStore({ clock, retentionMs: 100, max: 3 });
  const added = ["a", "b", "c", "d", "a"].map((nonce) => nonces.add(nonce));
  expect(added).toEqual(["new", "new", "new", "full", "seen"]);
  now += 100;
  expect(nonces.add("d")).toBe("new");
});
