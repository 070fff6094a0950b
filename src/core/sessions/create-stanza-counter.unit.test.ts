import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createStanzaCounter } from "./create-stanza-counter.ts";

test("The counter of unknown stanzas counts each, but gives only sixteen kinds a series", async () => {
  const registry = new Registry();
  const count = createStanzaCounter(registry);
  for (const tag of ["novelty", "novelty", "a b", "", "x".repeat(33)]) count(tag);
  for (let nth = 0; nth < 10_000; nth++) count(`kind-${nth}`);
  count("retry", 5);
  const [metric] = await registry.getMetricsAsJSON();
  const values = (metric?.values ?? []) as { labels: { kind?: string }; value: number }[];
  const countOf = (kind: string) => values.find(({ labels }) => labels.kind === kind)?.value;
  expect([countOf("novelty"), countOf("retry"), countOf("message")]).toEqual([2, 5, 0]);
  expect(countOf("other")).toBe(3 + 10_000 - 12);
  expect(values).toHaveLength(16);
});
