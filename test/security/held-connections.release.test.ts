import { beforeAll, expect, test } from "vitest";
import { buildDist } from "../run/build-dist.ts";
import { measureHeldConnections } from "./held-connections.ts";

beforeAll(buildDist);

test("connections with a wrong Chatwoot token are refused before their body is held in memory", {
  timeout: 120_000,
}, async () => {
  const figures = await measureHeldConnections({ connections: 100, probes: 20 });
  // The gateway responded before the body, so it never buffered the 190 MB.
  expect(figures.refused_before_body).toBe(100);
  expect(figures.memory_most_mb - figures.memory_before_mb).toBeLessThan(100);
  expect(figures.statuses).toEqual({ 401: 20 });
  const { 401: refused = 0, 429: limited = 0, ...others } = figures.statuses_of_one_address;
  expect(others).toEqual({});
  expect(refused).toBeGreaterThanOrEqual(600);
  expect(limited).toBeGreaterThan(0);
});
