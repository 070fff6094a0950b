import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createStanzaCounter } from "./create-stanza-counter.ts";

test("The counter of unknown stanzas counts each, but gives only the first sixteen kinds a series", async () => {
  const registry = new Registry();
  const count = createStanzaCounter(registry);
  for (const tag of ["novelty", "novelty", "a b", "", "x".repeat(33)]) count(tag);
  for (let nth = 0; nth < 10_000; nth++) count(`kind-${nth}`);
  const [metric] = await registry.getMetricsAsJSON();
  const values = (metric?.values ?? []) as { labels: { kind?: string }; value: number }[];
  expect(values.find(({ labels }) => labels.kind === "novelty")?.value).toBe(2);
  expect(values.find(({ labels }) => labels.kind === "other")?.value).toBe(3 + 10_000 - 15);
  expect(values).toHaveLength(17);
});
