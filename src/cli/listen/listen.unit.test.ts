import { describe, expect, test } from "vitest";
import type { EventName } from "../../core/events/contract.ts";
import { eventExample } from "../../core/events/event-example.ts";
import { describeEvent } from "./describe-event.ts";
import { EventArrivals } from "./event-arrivals.ts";
import { createEventPrinter } from "./listen-command.ts";
import { adviseOnBlocked, adviseOnUnreachable, isLoopback } from "./listener-webhook.ts";

const event = (id: unknown) => ({ event_id: id });

describe("the events that have arrived", () => {
  test("are known by their id, and each is new once", () => {
    const arrivals = new EventArrivals();
    expect([arrivals.add(event("a")), arrivals.add(event("a")), arrivals.add(event("b"))]).toEqual([
      true,
      false,
      true,
    ]);
    expect([arrivals.has("a"), arrivals.has("c")]).toEqual([true, false]);
  });

  test("without an id are all new", () => {
    const arrivals = new EventArrivals();
    for (const odd of [null, "x", {}, event(7)]) expect(arrivals.add(odd)).toBe(true);
  });

  test("are forgotten after ten thousand others", () => {
    const arrivals = new EventArrivals();
    for (let i = 0; i <= 10_000; i++) arrivals.add(event(`e${i}`));
    expect([arrivals.has("e0"), arrivals.has("e1"), arrivals.has("e10000")]).toEqual([false, true, true]);
  });

  test("end the wait for one of them, also if it has arrived before", async () => {
    const arrivals = new EventArrivals();
    arrivals.add(event("a"));
    const next = arrivals.next("a", 60_000);
    arrivals.add(event("b"));
    arrivals.add(event("a"));
    expect(await next).toBe(true);
    expect(await arrivals.next("a", 1)).toBe(false);
  });
});

const AT = new Date("2026-11-20T12:34:56");
const sample = (name: string): unknown => eventExample(name as EventName);
const line = (event: unknown, headers = {}) => describeEvent(event, headers, AT);

describe("the line of an event", () => {
  test.each([
    ["message.received", '12:34:56  message.received  #4812  Sales  from 5511977771234 "Hello"'],
    [
      "message.failed",
      '12:34:56  message.failed  #4812  Sales  to 5511966660001 "To nobody" SEND_FAILED: The network refused the message.',
    ],
    [
      "instance.disconnected",
      "12:34:56  instance.disconnected  #4812  Sales  reconnecting 5511988887777 connection_lost",
    ],
    ["instance.qr", "12:34:56  instance.qr  #4812  Sales  new"],
  ])("of %s says what happened, to whom", (name, expected) => {
    expect(line(sample(name))).toBe(expected);
  });

  test("names the kind of a file, and quotes its caption", () => {
    const message = { direction: "inbound", phone: "55", type: "image", text: null, caption: "Look" };
    expect(line({ event: "message.received", data: { message } })).toContain('from 55 [image] "Look"');
  });

  test("shows a reaction, and a chat without a number by its address", () => {
    const message = { direction: "outbound", jid: "1203@g.us", type: "text", text: "Hi" };
    expect(line({ event: "message.reaction", data: { message, reaction: "👍" } })).toMatch(
      /to 1203@g\.us "Hi" 👍$/,
    );
  });

  test("mentions only a repeated attempt", () => {
    expect(line({ event: "x" }, { "x-waygate-attempt": "1" })).toBe("12:34:56  x");
    expect(line({ event: "x" }, { "x-waygate-attempt": "3" })).toBe("12:34:56  x  (attempt 3)");
    expect(line({ event: "x" }, { "x-waygate-attempt": "1e999" })).toBe("12:34:56  x");
  });

  test("holds nothing that a terminal interprets, wherever it is in the event", () => {
    const evil = "\u001b]0;owned\u0007\u009b2J\n";
    const message = { direction: "inbound", phone: evil, jid: evil, type: evil, text: evil };
    const event = { event: evil, instance: { name: evil }, data: { message, reaction: evil, error: evil } };
    expect(line(event)).not.toMatch(/\p{Cc}/u);
    const state = {
      status: evil,
      phone: evil,
      reason: evil,
      message: evil,
      error: { code: evil, message: evil },
    };
    expect(line({ event: evil, data: state })).not.toMatch(/\p{Cc}/u);
  });

  test("stays short, however long a text is", () => {
    const message = {
      direction: "inbound",
      phone: "5".repeat(9_999),
      type: "text",
      text: "a".repeat(99_999),
    };
    expect(line({ event: "e".repeat(9_999), data: { message } }).length).toBeLessThan(600);
  });

  test.each([null, 7, "text", [], [[]], {}, { data: 1 }, { data: { message: null } }, { sequence: "7" }])(
    "exists for a body of any shape: %j",
    (event) => {
      expect(line(event)).toMatch(/^12:34:56 {2}event$/);
    },
  );
});

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

describe("the advice about an address that the gateway may not call", () => {
  test("names the setting that opens this machine", () => {
    const advice = adviseOnBlocked("http://127.0.0.1:8080/");
    expect(advice).toContain("WAYGATE_LOCAL_TARGETS=on");
    expect(advice).toContain("WAYGATE_ALLOWED_HOSTS=external,127.0.0.1:8080 ");
  });

  test("names the host with the port that its scheme means", () => {
    expect(adviseOnBlocked("https://laptop.lan/")).toContain(
      "WAYGATE_ALLOWED_HOSTS=external,laptop.lan:443 ",
    );
    expect(adviseOnBlocked("http://[fd12::1]/")).toContain("WAYGATE_ALLOWED_HOSTS=external,[fd12::1]:80 ");
    expect(adviseOnBlocked("http://10.0.0.5:81/")).not.toContain("WAYGATE_LOCAL_TARGETS");
  });
});

describe("the advice about a listener that the gateway cannot reach", () => {
  test("thinks of a container if both are on this machine", () => {
    const advice = adviseOnUnreachable("http://localhost:3000", "http://127.0.0.1:8080/");
    expect(advice).toContain("--host 0.0.0.0 --port 8080 --public-url http://host.docker.internal:8080/");
  });

  test("asks for an address of this machine if the gateway is on another one", () => {
    const advice = adviseOnUnreachable("https://gateway.example", "http://127.0.0.1:8080/");
    expect(advice).toContain("the gateway's own machine");
    expect(advice).toContain("--public-url");
  });

  test("asks to check an address that was given", () => {
    expect(adviseOnUnreachable("https://gateway.example", "https://tunnel.example/")).toContain(
      "Check that https://tunnel.example/ leads to this machine",
    );
  });
});

test.each([
  ["localhost", true],
  ["127.0.0.2", true],
  ["[::1]", true],
  ["a.localhost", true],
  ["127.0.0.1.example.com", false],
  ["10.0.0.1", false],
])("the host %s is this machine: %s", (name, expected) => {
  expect(isLoopback(name)).toBe(expected);
});
