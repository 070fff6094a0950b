import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { abortAfter } from "./abort-after.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

describe("a signal with a deadline", () => {
  test("reports its end to a listener although nothing else refers to it", async () => {
    const request = new AbortController();
    const heard: string[] = [];
    abortAfter(50, request.signal).addEventListener("abort", ({ target }) =>
      heard.push((target as AbortSignal).reason.name),
    );
    await expect
      .poll(async () => {
        collectGarbage();
        await setImmediate();
        return heard;
      })
      .toEqual(["TimeoutError"]);
  });

  test("ends with the first of its signals, for the same reason", () => {
    const request = new AbortController();
    const signal = abortAfter(60_000, new AbortController().signal, request.signal);
    expect(signal.aborted).toBe(false);
    request.abort(new Error("The client has gone."));
    expect(signal.reason).toEqual(new Error("The client has gone."));
  });
});
