import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createMessageCounters } from "./create-message-counters.ts";

test("every outcome that an alert counts begins at zero, since a rate misses the first count of a new series", async () => {
  const registry = new Registry();
  createMessageCounters(registry);
  const lines = (await registry.metrics()).split("\n");
  expect(lines).toContain('waygate_sends_total{outcome="sent",code=""} 0');
  expect(lines).toContain('waygate_sends_total{outcome="failed",code="UNKNOWN_OUTCOME"} 0');
  expect(lines).toContain('waygate_sends_total{outcome="failed",code="SEND_FAILED"} 0');
});
