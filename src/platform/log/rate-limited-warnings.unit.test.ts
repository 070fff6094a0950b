import { beforeEach, describe, expect, test } from "vitest";
import { createRateLimitedWarnings } from "./rate-limited-warnings.ts";

interface Fields {
  ip: string;
  count?: number;
}

let now: number;
let lines: { fields: object; message: string }[];
let warn: (fields: Fields) => void;

beforeEach(() => {
  now = 1_000_000;
  lines = [];
  warn = createRateLimitedWarnings<Fields>({
    log: { warn: (fields: object, message: string) => void lines.push({ fields, message }) } as never,
    clock: { now: () => new Date(), monotonicMs: () => now },
    message: "a request was rejected",
    sourceOf: ({ ip }) => ip,
  });
});

function warnTimes(times: number, ip = "192.0.2.1"): void {
  for (let n = 0; n < times; n++) warn({ ip });
}

describe("a warning that clients can cause", () => {
  test("is logged with its fields and its message", () => {
    warn({ ip: "192.0.2.1" });
    expect(lines).toEqual([{ fields: { ip: "192.0.2.1" }, message: "a request was rejected" }]);
  });

  test("is logged ten times a minute for one source, without affecting another source", () => {
    warnTimes(30);
    expect(lines).toHaveLength(10);
    warn({ ip: "192.0.2.2" });
    expect(lines).toHaveLength(11);
  });

  test("is logged 120 times a minute for all sources together", () => {
    for (let n = 0; n < 200; n++) warn({ ip: `192.0.2.${n}` });
    expect(lines).toHaveLength(120);
  });

  test("reports once how many warnings were left out before it", () => {
    warnTimes(15);
    now += 12_000;
    warnTimes(2);
    expect(lines.slice(-2).map(({ fields }) => fields)).toEqual([
      { ip: "192.0.2.1", count: 5 },
      { ip: "192.0.2.1" },
    ]);
  });
});
