import { describe, expect, test } from "vitest";
import type { EventName } from "../../features/events/contract.ts";
import { eventExample } from "../../features/events/event-example.ts";
import { describeEvent } from "./describe-event.ts";

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
