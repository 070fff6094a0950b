import { expect, test } from "vitest";
import { inSpan, setTracing, startSpan, traceParentOf, tracingMode } from "./tracing.ts";

test("tracing stays off while no SDK is loaded, whatever the setting is", async () => {
  expect(setTracing("continue", "1.0.0")).toBe("off");
  expect(tracingMode()).toBe("off");
  expect(startSpan("work", {})).toBeUndefined();
  const span = await inSpan(
    "work",
    () => {
      throw new Error("nothing may describe a span");
    },
    async (given) => given,
  );
  expect(traceParentOf(span)).toBeUndefined();
});
