import { describe, expect, test } from "vitest";
import { createEventPrinter } from "./event-printer.ts";

const EVENT = { event: "message.received", sequence: 1, data: { message: { text: "a\u001b[31m\nb" } } };

function print(options: { json?: boolean; verbose?: boolean } = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  let time = 0;
  const printer = createEventPrinter({
    json: false,
    verbose: false,
    ...options,
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    now: () => new Date(time),
  });
  const pass = (ms: number): void => {
    time += ms;
  };
  return { printer, out, err, pass };
}

describe("what the listener prints", () => {
  test("is one line per event, and says when an event has been there before", () => {
    const { printer, out } = print();
    printer.event({ headers: {}, event: EVENT }, true);
    printer.event({ headers: {}, event: EVENT }, false);
    expect(out).toEqual([
      expect.stringMatching(/message\.received {2}#1 {2}"a\\u001b\[31m\\nb"$/),
      expect.stringMatching(/ {2}\(again\)$/),
    ]);
  });

  test("in JSON is the event itself on one line, with its texts escaped", () => {
    const { printer, out } = print({ json: true });
    printer.event({ headers: {}, event: EVENT }, true);
    expect(out).toHaveLength(1);
    expect(out[0]).not.toMatch(/\p{Cc}/u);
    expect(JSON.parse(out[0] ?? "")).toEqual(EVENT);
  });

  test("has the payload below the line if it is to be verbose", () => {
    const { printer, out } = print({ verbose: true });
    printer.event({ headers: {}, event: EVENT }, true);
    expect(JSON.parse(out[1] ?? "")).toEqual(EVENT);
  });

  test("names a refused request at most once per second, and counts the others", () => {
    const { printer, out, err, pass } = print();
    for (let i = 0; i < 5; i++) printer.refusal("401: \u001b[2J");
    pass(1_000);
    printer.refusal("413");
    pass(1_000);
    printer.refusal("405");
    expect(out).toEqual([]);
    expect(err).toEqual([
      "refused with 401: \\u001b[2J",
      "refused with 413 (and 4 more before it)",
      "refused with 405",
    ]);
  });
});
