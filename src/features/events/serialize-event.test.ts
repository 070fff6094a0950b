import { describe, expect, test } from "vitest";
import { MAX_BODY_BYTES, serializeEvent } from "./serialize-event.ts";

const event = (data: Record<string, unknown>) => ({ event_id: "evt_1", sequence: 0, data });
const size = (body: string) => Buffer.byteLength(body);

describe("the body of an event", () => {
  test("is unchanged if it fits", () => {
    const whole = event({ text: "ação 👋", list: [1, 2, 3] });
    expect(serializeEvent(whole)).toBe(JSON.stringify(whole));
  });

  test.each([
    ["the longest text of three-byte characters", "請".repeat(65_536)],
    ["the longest text of emojis", "👋".repeat(32_768)],
    ["the longest text of line breaks", "\n".repeat(65_536)],
  ])("contains %s whole", (_, text) => {
    const body = serializeEvent(event({ message: { text } }));
    expect(JSON.parse(body)).toEqual(event({ message: { text } }));
  });

  test.each([
    ["two of the longest texts", { text: "請".repeat(65_536), quoted: { text: "請".repeat(65_536) } }],
    ["a text of nothing but escapes", { text: "\u0001".repeat(65_536) }],
    ["an endless list", { mentions: Array.from({ length: 100_000 }, (_, n) => `55${n}@s.whatsapp.net`) }],
    [
      "many long texts",
      Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`k${n}`, "x".repeat(9_000)])),
    ],
    ["deep lists of long texts", { a: [[["y".repeat(300_000)]], ["z".repeat(300_000)]] }],
  ])("with %s is truncated to the largest size and marked as truncated", (_, data) => {
    const body = serializeEvent(event(data));
    expect(size(body)).toBeLessThanOrEqual(MAX_BODY_BYTES);
    const cut = JSON.parse(body);
    expect(cut).toMatchObject({ event_id: "evt_1", truncated: true });
    expect(Object.keys(cut.data)).toEqual(Object.keys(data));
  });

  test("is truncated between characters, and no more than necessary", () => {
    const { data } = JSON.parse(serializeEvent(event({ text: `a${"👋".repeat(100_000)}`, short: "stays" })));
    expect(data.short).toBe("stays");
    expect(data.text).toMatch(/^a(👋)+…$/u);
    expect(data.text.length).toBeGreaterThan(16_000);
  });
});
