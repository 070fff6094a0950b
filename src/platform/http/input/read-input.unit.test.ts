import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { growsLinearly } from "../../../../test/cpu-time.ts";
import { GatewayError } from "../../gateway-error.ts";
import type { FieldIssue } from "../../issue-codes.ts";
import { createTestLimit } from "../limit-tests.ts";
import { createLoadShedder, startEventLoopLagMeter } from "../load-shedder.ts";
import { pageInput, pagination, refuseAll, route, rowId } from "../route.ts";
import { unknownRouteMessage } from "../server/add-http-hooks.ts";
import { readInput } from "./read-input.ts";
import { nameFieldsAsSent } from "./resolve-aliases.ts";

test("the eleventh test of a webhook within a minute is rejected, with the seconds until the next one", () => {
  let now = 1_000_000;
  const allow = createTestLimit("A webhook", { now: () => new Date(), monotonicMs: () => now });
  for (let n = 0; n < 10; n++) allow(1);
  now += 2_500;
  expect(() => allow(1)).toThrowError(
    expect.objectContaining({
      code: "RATE_LIMITED",
      message: "A webhook can be tested at most 10 times per minute. Try again in a minute.",
      retryAfterSeconds: 58,
    }),
  );
  allow(2);
});

const send = route({
  http: "POST /send",
  access: "public",
  tag: "Test",
  summary: "Send",
  aliases: { text: ["body", "textMessage.text"] },
  input: z.object({
    text: z.string(),
    deep: z.object({ list: z.array(z.object({ at: z.number() })) }).optional(),
    either: z
      .union([z.object({ url: z.string() }), z.object({ kind: z.literal("x"), size: z.number() })])
      .optional(),
    plain: z.union([z.string(), z.number()]).optional(),
    names: z.record(z.string(), z.string()).optional(),
  }),
  output: z.unknown(),
});

function issuesOf(body: unknown): readonly FieldIssue[] {
  try {
    readInput(send, { path: {}, query: {}, body });
  } catch (error) {
    if (error instanceof GatewayError) return error.details?.fields ?? [];
    throw error;
  }
  return [];
}

function fieldsOf(body: unknown): unknown {
  return issuesOf(body).map(({ field, issue }) => ({ field, issue }));
}

test("an error says what is wrong as a code, with the limits and names of its sentence", () => {
  const reasonsOf = (body: unknown) => issuesOf(body).map(({ code, params }) => [code, params]);
  expect(reasonsOf({})).toEqual([["missing", {}]]);
  expect(reasonsOf({ text: "x", deep: { list: [{ at: "two" }] } })).toEqual([
    ["wrong_type", { expected: "number" }],
  ]);
  expect(reasonsOf({ text: "x", plain: true })).toEqual([["wrong_type", { expected: "text, number" }]]);
});

test("an error deep inside the input is reported with its dotted path", () => {
  expect(fieldsOf({ text: "x", deep: { list: [{ at: 1 }, { at: "two" }, {}] } })).toEqual([
    { field: "deep.list.1.at", issue: "must be a number" },
    { field: "deep.list.2.at", issue: "is required" },
  ]);
});

test("the errors of several alternatives are those of the closest alternative", () => {
  expect(fieldsOf({ text: "x", either: { kind: "x", size: "big" } })).toEqual([
    { field: "either.url", issue: "is required" },
  ]);
  expect(fieldsOf({ text: "x", either: { url: [5] } })).toEqual([
    { field: "either.url", issue: "must be text" },
  ]);
  expect(fieldsOf({ text: "x", plain: true })).toEqual([
    { field: "plain", issue: "must be text or a number" },
  ]);
});

test("an error in an alias is reported under the alias that was sent, with fifty errors at most", () => {
  expect(fieldsOf({ textMessage: { text: [5] } })).toEqual([
    { field: "textMessage.text", issue: "must be text" },
  ]);
  expect(fieldsOf({ text: "x", deep: { list: Array(200).fill({}) } })).toHaveLength(50);
});

test("a null, an inherited name or a wrong kind on the way to an alias counts as absent", () => {
  for (const body of [{ textMessage: null }, { textMessage: "x" }, { textMessage: [] }, {}]) {
    expect(fieldsOf(body)).toEqual([{ field: "text", issue: "is required" }]);
  }
});

test("an error in a map with a very long key names only the beginning of the key", () => {
  const [fault] = fieldsOf({ text: "x", names: { ["k".repeat(100_000)]: [1] } }) as {
    field: string;
    issue: string;
  }[];
  expect(fault?.field).toBe(`names.${"k".repeat(294)}`);
});

test("null counts as absent at any depth, except in lists and where null has a meaning", () => {
  const patch = route({
    http: "PATCH /thing",
    access: "public",
    tag: "Test",
    summary: "Change",
    input: z.object({
      size: z.coerce.number().int().min(0).default(7),
      name: z.string().nullish(),
      limits: z.record(z.string(), z.union([z.string(), z.null()])).optional(),
      metadata: z.unknown().optional(),
      people: z.array(z.object({ phone: z.string(), note: z.string().optional() })).optional(),
      plain: z.array(z.string()).optional(),
    }),
    output: z.unknown(),
  });
  const read = (body: unknown) => readInput(patch, { path: {}, query: {}, body });
  expect(
    read({
      size: null,
      name: null,
      limits: { a: null },
      metadata: { b: null },
      people: [{ phone: "1", note: null }],
    }),
  ).toEqual({ size: 7, name: null, limits: { a: null }, metadata: { b: null }, people: [{ phone: "1" }] });
  expect(() => read({ plain: [null] })).toThrow("plain.0: must be text");
  expect(() => read({ people: [{ phone: null }] })).toThrow("people.0.phone: is required");
});

const list = route({
  http: "GET /shops/:id/orders",
  access: "key",
  tag: "Test",
  summary: "List",
  aliases: { track_id: ["trackId"] },
  input: z.object({ id: rowId, ...pageInput, track_id: z.string().optional() }),
  output: z.array(z.unknown()),
  beside: z.object({ pagination }),
});

test("a list refuses an unknown filter, and names the filters that exist", () => {
  const read = (query: Record<string, unknown>) =>
    readInput(list, { path: { id: "7" }, query, body: undefined });
  expect(read({ trackId: "a", limit: "5" })).toMatchObject({ id: 7, track_id: "a", limit: 5 });
  const names = "Filters are limit, cursor, track_id.";
  const advice = "Did you mean track_id?";
  expect(() => read({ trak_id: "a" })).toThrow(`trak_id: is not a filter of this list. ${advice} ${names}`);
  expect(() => read({ id: "8" })).toThrow(`id: is not a filter of this list. ${names}`);
});

test("an export as a table refuses an unknown filter", () => {
  const { beside: _, ...rest } = list;
  const table = route({ ...rest, raw: "text/csv" });
  expect(() => readInput(table, { path: { id: "7" }, query: { colour: "a" }, body: undefined })).toThrow(
    "colour: is not a filter of this list. Filters are limit, cursor, track_id.",
  );
});

const PEERS = [
  "/message/sendText/sales",
  "/sendText",
  "/api/sendText",
  "/send/text",
  "/instance/connect/x",
  "/api/sessions",
];

test.each(PEERS)("%s, a path of another gateway, points to the page about moving", (path) => {
  expect(unknownRouteMessage(path)).toContain("/docs/waygate/migration");
});

test("another unknown path points to the reference", () => {
  for (const path of ["/x", "/api/v1/nope", "/messages", "/favicon.png"]) {
    expect(unknownRouteMessage(path)).toBe("There is no such route. /docs lists every route.");
  }
});

test("the path of the metrics names the setting that opens it", () => {
  expect(unknownRouteMessage("/metrics")).toBe(
    "There is no such route while WAYGATE_METRICS_TOKEN is not set.",
  );
});

describe("the load shedder", () => {
  const lines: { msg: string; count?: number }[] = [];
  const note = (fields: object, msg: string) => void lines.push({ ...fields, msg });
  const log = { warn: note, info: note } as unknown as Parameters<typeof createLoadShedder>[1];
  beforeEach(() => {
    lines.length = 0;
  });

  test("refuses requests from the limit on, and accepts them again only well below it", () => {
    let value = 100;
    const pressure = createLoadShedder([{ label: "things", limit: 100, read: () => value }], log);
    const admitted: boolean[] = [];
    for (value of [99, 100, 99, 81, 80, 99]) admitted.push(pressure.admits());
    expect(admitted).toEqual([true, false, false, false, true, true]);
  });

  test("accepts requests only when every gauge is below its limit, and logs changes only", () => {
    const values = { a: 9, b: 1 };
    const gauges = [
      { label: "a", limit: 5, read: () => values.a },
      { label: "b", limit: 5, read: () => values.b },
    ];
    const pressure = createLoadShedder(gauges, log);
    expect([pressure.admits(), pressure.admits()]).toEqual([false, false]);
    Object.assign(values, { a: 0, b: 6 });
    expect(pressure.admits()).toBe(false);
    values.b = 4;
    expect(pressure.admits()).toBe(true);
    expect(lines.map(({ msg, count }) => [msg.split(":")[0], count])).toEqual([
      ["overloaded", 9],
      ["no longer overloaded", 0],
      ["overloaded", 6],
      ["no longer overloaded", 4],
    ]);
  });

  test("treats 0 as no limit", () => {
    expect(createLoadShedder([{ label: "a", limit: 0, read: () => 1e9 }], log).admits()).toBe(true);
  });
});

describe("the event-loop delay of a process", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  /** Fires the timer once for each entry, late by that many ms. */
  function lagAfter(lates: number[]): number {
    let now = 0;
    const meter = startEventLoopLagMeter({ ceilingMs: 2_000, now: () => now });
    for (const late of lates) {
      now += 250 + late;
      vi.advanceTimersByTime(250);
    }
    meter.stop();
    return meter.read();
  }

  test("is zero while timers fire on time, and rises to a lasting delay", () => {
    expect(lagAfter(Array(20).fill(0))).toBe(0);
    expect(lagAfter(Array(60).fill(1_500))).toBeCloseTo(1_500, 0);
  });

  test("stays below half of its ceiling after a single pause, however long, and falls again", () => {
    expect(lagAfter([120_000])).toBeLessThan(1_000);
    expect(lagAfter([2_000, 2_000, 2_000])).toBeGreaterThan(1_000);
    expect(lagAfter([2_000, 2_000, 2_000, 0, 0, 0, 0])).toBeLessThan(400);
  });
});

const toChat = route({
  http: "POST /to-chat",
  access: "public",
  tag: "Test",
  summary: "Send",
  aliases: { number: ["to", "chatId", "key.remoteJid"] },
  input: z.object({ number: z.string(), phone: z.string().optional() }),
  output: z.unknown(),
});
const readChat = (body: object) => readInput(toChat, { path: {}, query: {}, body });

test.each([
  [{ to: "+55 21 98888-0001", chatId: "5521988880001@c.us" }],
  [{ number: "21 98888-0001", to: "5521988880001" }],
  [{ number: "552188880001", key: { remoteJid: "5521988880001:3@s.whatsapp.net" } }],
  [{ number: "5521988880001", to: "", chatId: null }],
  [{ to: "120363040000000001@g.us", chatId: "120363040000000001" }],
  [{ to: "5521988880001", chatId: "77665544332211@lid" }],
])("the aliases of one address in %j agree", (body) => {
  expect(readChat(body).number).toBe((body as { number?: string }).number ?? (body as { to: string }).to);
});

test.each([
  [{ to: "5521988880001", chatId: "5521988880002@c.us" }, "to", "chatId"],
  [{ number: "5521988880001", key: { remoteJid: "5531988880001@c.us" } }, "number", "key.remoteJid"],
  [{ number: "+1 21 98888-0001", to: "5521988880001" }, "number", "to"],
  [{ to: "5521988880001", chatId: "120363040000000001@g.us" }, "to", "chatId"],
  [{ to: "77665544332211@lid", chatId: "120363040000000001@g.us" }, "to", "chatId"],
])("the aliases of one address in %j disagree, so both are named", (body, one, other) => {
  expect(() => readChat(body)).toThrowError(
    expect.objectContaining({
      message: expect.stringContaining(`${one}: names another person or chat than \`${other}\``),
      details: {
        fields: [expect.objectContaining({ field: one }), expect.objectContaining({ field: other })],
      },
    }),
  );
});

test("a damaged number beside another address is refused with what is wrong with it", () => {
  expect(() => readChat({ to: "5521988880001@c.us", chatId: "5,52199E+12" })).toThrow(
    "chatId: was changed by a spreadsheet",
  );
});

test("a sentence about two fields names both as they were sent", () => {
  const refusal = new GatewayError("VALIDATION_ERROR", "phone: is not `number`", {
    details: {
      fields: [
        { field: "phone", code: "invalid", params: {}, issue: "is not `number`" },
        { field: "number", code: "invalid", params: {}, issue: "is not `phone`" },
      ],
    },
  });
  expect(nameFieldsAsSent(refusal, toChat, { to: "1", phone: "2" })).toMatchObject({
    message: "phone: is not `to`",
    details: {
      fields: [
        { field: "phone", issue: "is not `to`" },
        { field: "to", issue: "is not `phone`" },
      ],
    },
  });
});

test("one refused field in thousands of spellings is named once, in a time in proportion to the body", async () => {
  const refusing = route({
    http: "POST /texts/:id",
    access: "public",
    tag: "Test",
    summary: "Send",
    output: z.unknown(),
    input: z.object({ id: rowId, text: z.string().optional() }),
    refuses: refuseAll("is not supported", "viewOnce"),
  });
  const spellings = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, nth) => [
        `viewonce${nth.toString(2).replaceAll("0", "_").replaceAll("1", "-")}`,
        true,
      ]),
    );
  const ask = (body: Record<string, unknown>) => readInput(refusing, { path: { id: "1" }, query: {}, body });
  expect(() => ask(spellings(3))).toThrow(
    expect.objectContaining({ details: { fields: [expect.anything()] } }),
  );
  const refused = (count: number) => expect(() => ask(spellings(count))).toThrow("is not supported");
  expect(await growsLinearly(20_000, refused)).toBe(true);
});
