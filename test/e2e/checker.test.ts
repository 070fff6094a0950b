import { describe, expect, test } from "vitest";
import { IN_FLIGHT, toRoundFigures } from "../chaos/report.ts";
import { seededRandom } from "../run/seeded-random.ts";
import { checkLedgers } from "./checker.ts";
import type { ClientSend, EventLedgerEntry, Ledgers, Reception } from "./ledgers.ts";

const CHAT = "5521988887777";

function recorded(
  sequence: number,
  event: string,
  data: object,
  more: Partial<EventLedgerEntry> = {},
): EventLedgerEntry {
  const event_id = `evt_${sequence}`;
  const body = Buffer.from(JSON.stringify({ event_id, event, sequence, data }));
  return {
    event_id,
    event,
    instance_id: 1,
    sequence,
    chat: CHAT,
    path: "/hook/1",
    body,
    status: "delivered",
    attempts: 1,
    ...more,
  };
}

function received({ event_id, path, body }: EventLedgerEntry, more: Partial<Reception> = {}): Reception {
  return { event_id, path, raw: body, answered: 200, signed: true, ...more };
}

function sent(n: number): ClientSend {
  return { key: `text-${n}`, chat: CHAT, known: "ok", order: n, job_id: `job-${n}`, message_id: `M${n}` };
}

/** Three sends to one contact and a text back, on which all ledgers agree. */
function flawless(): Ledgers {
  const sends = [1, 2, 3].map(sent);
  const events = [
    ...sends.map(({ job_id }, index) => recorded(index + 1, "message.sent", { jobId: job_id })),
    recorded(4, "message.received", { message: { text: "hello" } }),
  ];
  return {
    sends,
    says: [{ key: "hello", known: "ok" }],
    network: sends.map(({ key, message_id = "" }) => ({ key, message_id, chat: CHAT })),
    events,
    receptions: events.map((event) => received(event)),
    loggedTries: events.length,
  };
}

const FLAWLESS = checkLedgers(flawless());

/** Replaces the outcome of the first send with a failure. */
function replaceFirst({ events, receptions }: Pick<Ledgers, "events" | "receptions">, code: string) {
  const failed = recorded(1, "message.failed", { jobId: "job-1", error: { code } });
  return { events: [failed, ...events.slice(1)], receptions: [received(failed), ...receptions.slice(1)] };
}

describe("the checker", () => {
  test("finds nothing if all ledgers agree", () => {
    const { duplicateDeliveries, repeatedIds, unloggedTries, inventedTries, ...lists } = FLAWLESS;
    expect([duplicateDeliveries, repeatedIds, unloggedTries, inventedTries]).toEqual([0, 0, 0, 0]);
    expect(Object.values(lists).flat()).toEqual([]);
    expect(toRoundFigures(flawless(), { ...IN_FLIGHT, kills: 0 })).toMatchObject({
      sends: 3,
      events: 4,
      lost: 0,
      breaches: [],
    });
  });

  const [first] = flawless().events as [EventLedgerEntry];
  const edit = (change: (ledgers: Ledgers) => Partial<Ledgers>): Ledgers => {
    const ledgers = flawless();
    const changed = change(ledgers);
    const { length: loggedTries } = changed.receptions ?? ledgers.receptions;
    return { ...ledgers, loggedTries, ...changed };
  };

  test.each<[string, (ledgers: Ledgers) => Partial<Ledgers>, object]>([
    [
      "an event that no receiver got",
      ({ receptions }) => ({ receptions: receptions.slice(1) }),
      { lostEvents: ["message.sent evt_1"] },
    ],
    [
      "an event that was never answered with 2xx",
      ({ events }) => ({
        receptions: events.map((event, i) => received(event, i === 0 ? { answered: 500 } : {})),
      }),
      { lostEvents: ["message.sent evt_1"] },
    ],
    [
      "a wanted event that nobody queued",
      ({ events, receptions }) => ({
        events: [{ ...first, status: null }, ...events.slice(1)],
        receptions: receptions.slice(1),
      }),
      { lostEvents: ["message.sent evt_1"] },
    ],
    [
      "an accepted send without an outcome",
      ({ events, receptions }) => ({ events: events.slice(1), receptions: receptions.slice(1) }),
      { lostSends: ["text-1"] },
    ],
    [
      "a message from the network of which no event tells",
      ({ events, receptions }) => ({ events: events.slice(0, 3), receptions: receptions.slice(0, 3) }),
      { lostSends: ["hello"] },
    ],
    [
      "an event that was never recorded",
      ({ receptions }) => ({ receptions: [...receptions, received(recorded(9, "message.sent", {}))] }),
      { unexpected: ["evt_9"] },
    ],
    [
      "other bytes at the second try",
      ({ receptions }) => ({
        receptions: [received(first, { raw: Buffer.from("{}"), answered: 500 }), ...receptions],
      }),
      { unexpected: ["evt_1"] },
    ],
    [
      "a wrong signature",
      ({ events }) => ({ receptions: events.map((event, i) => received(event, { signed: i !== 0 })) }),
      { unexpected: ["evt_1 (signature)"] },
    ],
    [
      "a refused send that arrived",
      ({ sends, network }) => ({
        sends: [...sends, { key: "no", chat: CHAT, known: "fail" }],
        network: [...network, { key: "no", message_id: "X" }],
      }),
      { unexpected: ["refused: no"] },
    ],
    [
      "an event at the address of another instance",
      ({ events }) => ({ receptions: events.map((e, i) => received(e, i === 0 ? { path: "/hook/2" } : {})) }),
      { unexpected: ["evt_1 (at /hook/2)"] },
    ],
    [
      "an event that was given up",
      ({ events, receptions }) => ({
        events: [{ ...first, status: "discarded" }, ...events.slice(1)],
        receptions: receptions.slice(1),
      }),
      { givenUp: ["message.sent evt_1"] },
    ],
    [
      "a text that nobody asked for",
      ({ network }) => ({ network: [...network, { key: "strange", message_id: "X" }] }),
      { unexpected: ["nobody asked for: strange"] },
    ],
    [
      "a text that came to somebody else",
      ({ network }) => ({ network: network.map((a, i) => (i === 0 ? { ...a, chat: "5521900000000" } : a)) }),
      { unexpected: ["at 5521900000000: text-1"] },
    ],
    [
      "two outcomes of one send",
      ({ events, receptions }) => {
        const again = recorded(5, "message.sent", { jobId: "job-1" });
        return { events: [...events, again], receptions: [...receptions, received(again)] };
      },
      { repeatedEffects: ["text-1"] },
    ],
    [
      "a send that failed, as nobody knows its outcome",
      ({ events, receptions }) => replaceFirst({ events, receptions }, "UNKNOWN_OUTCOME"),
      { failedSends: ["text-1 (UNKNOWN_OUTCOME)"] },
    ],
    [
      "a send that is reported as failed for a reason, and arrived",
      ({ events, receptions }) => replaceFirst({ events, receptions }, "SEND_FAILED"),
      { failedSends: ["text-1 (SEND_FAILED)"], untrue: ["text-1"] },
    ],
    [
      "a text that is reported twice",
      ({ events, receptions }) => {
        const again = recorded(5, "message.received", { message: { text: "hello" } });
        return { events: [...events, again], receptions: [...receptions, received(again)] };
      },
      { repeatedEffects: ["hello"] },
    ],
    [
      "a send that is reported as sent and never arrived",
      ({ network }) => ({ network: network.slice(1) }),
      { untrue: ["text-1"] },
    ],
    [
      "a delivery after the 2xx of its receiver",
      ({ receptions }) => ({ receptions: [...receptions, received(first)] }),
      { duplicateDeliveries: 1 },
    ],
    ["a try that no log knows", () => ({ loggedTries: 3 }), { unloggedTries: 1 }],
    ["a logged response that no receiver sent", () => ({ loggedTries: 5 }), { inventedTries: 1 }],
    [
      "an id that came twice",
      ({ network }) => ({ network: [...network, { key: "text-3", message_id: "M3" }] }),
      { repeatedIds: 1 },
    ],
    [
      "another id for the same send",
      ({ network }) => ({ network: [...network, { key: "text-3", message_id: "other" }] }),
      { differentIds: ["text-3"] },
    ],
    [
      "a send that overtook an earlier one",
      ({ network }) => ({ network: network.toReversed() }),
      { outOfOrder: ["text-2", "text-3"] },
    ],
    [
      "a first try after that of a later event",
      ({ receptions }) => ({ receptions: [...receptions.slice(1), ...receptions.slice(0, 1)] }),
      { outOfOrder: ["evt_2", "evt_3", "evt_4"] },
    ],
  ])("finds %s, and nothing else", (_, change, found) => {
    expect(checkLedgers(edit(change))).toEqual({ ...FLAWLESS, ...found });
  });

  test("accepts a retry before the response, and a later event before one that has failed three times", () => {
    const retried = edit(({ receptions }) => ({
      receptions: [received(first, { answered: 500 }), ...receptions],
    }));
    expect(checkLedgers(retried)).toEqual(FLAWLESS);
    const parked = edit(({ events, receptions }) => ({
      events: [{ ...first, attempts: 4 }, ...events.slice(1)],
      receptions: [...receptions.slice(1), received(first)],
    }));
    expect(checkLedgers(parked).outOfOrder).toEqual([]);
  });

  test("allows what was in flight per kill to come again, and no more", () => {
    const again = (count: number) =>
      edit(({ receptions }) => ({
        receptions: [...receptions, ...Array.from({ length: count }, () => received(first))],
      }));
    expect(toRoundFigures(again(4), { ...IN_FLIGHT, kills: 1 }).breaches).toEqual([]);
    expect(toRoundFigures(again(5), { ...IN_FLIGHT, kills: 1 }).breaches).toEqual([
      "duplicate deliveries: 5 where 4 may be",
    ]);
    expect(toRoundFigures(again(1), { ...IN_FLIGHT, kills: 0 })).toMatchObject({ duplicateDeliveries: 1 });
  });
});

describe("seeded chance", () => {
  test("comes again with its seed and differs with another", () => {
    const row = (seed: string) =>
      Array.from(
        { length: 20 },
        (
          (random) => () =>
            random.between(1, 6)
        )(seededRandom(seed)),
      );
    expect(row("a")).toEqual(row("a"));
    expect(row("a")).not.toEqual(row("b"));
    expect(row("a").every((n) => n >= 1 && n <= 6)).toBe(true);
  });
});
