import { describe, expect, test } from "vitest";
import { authorKeyOf, parseTimestamp } from "./stanza.ts";

test("a timestamp of the network is in seconds", () => {
  expect(parseTimestamp("1763640000")).toEqual(new Date("2025-11-20T12:00:00.000Z"));
});

test.each([undefined, "", "0", "-5", "soon", "253402300800", "9e99"])(
  "a timestamp that is missing, no number or after the year 9999 counts as now: %s",
  (seconds) => {
    const before = Date.now();
    const at = parseTimestamp(seconds).getTime();
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  },
);

const PHONE = "5511999990001@s.whatsapp.net";

describe("the key of a message's author", () => {
  test.each([
    ["a chat by phone", { from: "5511999990001:7@s.whatsapp.net", sender_lid: "44:7@lid" }],
    ["a chat by LID", { from: "44:2@lid", sender_pn: PHONE }],
    ["a group by phone", { from: "1203@g.us", participant: "5511999990001:3@s.whatsapp.net" }],
    ["a group by LID", { from: "1203@g.us", participant: "44@lid", participant_pn: PHONE }],
  ])("is the same person in %s", (_, stanza: Record<string, string>) => {
    expect(authorKeyOf(stanza)).toBe(PHONE);
  });

  test("is the address as it is if it names no person", () => {
    expect(authorKeyOf({ from: "120363000000000000@newsletter" })).toBe("120363000000000000@newsletter");
    expect(authorKeyOf({})).toBe("");
  });
});
