import { describe, expect, test } from "vitest";
import { readTraceParent, toTraceParent } from "./trace-parent.ts";
import { inSpan, setTracing, startSpan, traceParentOf, tracingMode } from "./tracing.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const CONTEXT = { traceId: TRACE, spanId: SPAN, traceFlags: 1, isRemote: true };

describe("a traceparent from a caller", () => {
  test("is read with its trace, its span and its flags", () => {
    expect(readTraceParent(`00-${TRACE}-${SPAN}-01`)).toEqual(CONTEXT);
    expect(readTraceParent(`00-${TRACE}-${SPAN}-00`)).toEqual({ ...CONTEXT, traceFlags: 0 });
    expect(readTraceParent(`00-${TRACE}-${SPAN}-03`)).toEqual({ ...CONTEXT, traceFlags: 3 });
  });

  test("of a later version is read as far as every version goes", () => {
    expect(readTraceParent(`01-${TRACE}-${SPAN}-01`)).toEqual(CONTEXT);
    expect(readTraceParent(`fe-${TRACE}-${SPAN}-01-what-comes-next`)).toEqual(CONTEXT);
  });

  test.each<[string, unknown]>([
    ["absent", undefined],
    ["sent twice", [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`]],
    ["empty", ""],
    ["too short", `00-${TRACE}-${SPAN}-1`],
    ["longer than its version allows", `00-${TRACE}-${SPAN}-01-more`],
    ["of a later version with a wrong separator", `01-${TRACE}-${SPAN}-01x`],
    ["of the forbidden version", `ff-${TRACE}-${SPAN}-01`],
    ["without a trace", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["without a span", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["in capitals", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ["with other characters", `00-${TRACE.replace("4", "g")}-${SPAN}-01`],
    ["of a megabyte", `01-${TRACE}-${SPAN}-01-${"a".repeat(1_000_000)}`],
  ])("is ignored if it is %s", (_what, header) => {
    expect(readTraceParent(header)).toBeUndefined();
  });
});

test("a position in a trace is written as it is read", () => {
  const header = `00-${TRACE}-${SPAN}-01`;
  const context = readTraceParent(header);
  expect(context && toTraceParent(context)).toBe(header);
  const none = { traceId: "0".repeat(32), spanId: "0".repeat(16), traceFlags: 0 };
  expect(toTraceParent(none)).toBeUndefined();
});

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
