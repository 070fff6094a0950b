import { describe, expect, test } from "vitest";
import { endOfQuietHours } from "./quiet-hours.ts";

const endOf = (time_zone: string, from: string, to: string, at: string) =>
  endOfQuietHours({ from, to, time_zone }, new Date(at))?.toISOString();

describe("quiet hours", () => {
  test.each([
    ["before they begin", "2026-07-01T00:59:59Z", undefined],
    ["at their first moment", "2026-07-01T01:00:00Z", "2026-07-01T11:00:00.000Z"],
    ["after midnight", "2026-07-01T10:59:59Z", "2026-07-01T11:00:00.000Z"],
    ["at their end", "2026-07-01T11:00:00Z", undefined],
  ])("over night in Sao Paulo contain what is so %s", (_, at, end) => {
    expect(endOf("America/Sao_Paulo", "22:00", "08:00", at)).toBe(end);
  });

  test("within one day do not begin on the day before", () => {
    expect(endOf("UTC", "12:00", "14:00", "2026-07-01T13:00:00Z")).toBe("2026-07-01T14:00:00.000Z");
    expect(endOf("UTC", "12:00", "14:00", "2026-07-01T14:00:00Z")).toBeUndefined();
  });

  // The clocks skip 02:00 to 03:00 in Berlin and New York, and later show 02:00 to 03:00 (01:00 to 02:00) twice.
  test.each([
    [
      "are an hour shorter in spring",
      "Europe/Berlin",
      "08:00",
      "2026-03-28T21:00:00Z",
      "2026-03-29T06:00:00.000Z",
    ],
    [
      "are an hour longer in autumn",
      "Europe/Berlin",
      "08:00",
      "2026-10-24T20:00:00Z",
      "2026-10-25T07:00:00.000Z",
    ],
    [
      "end after an hour that is skipped",
      "Europe/Berlin",
      "02:30",
      "2026-03-29T00:45:00Z",
      "2026-03-29T01:30:00.000Z",
    ],
    [
      "end at the first of two equal times",
      "Europe/Berlin",
      "02:30",
      "2026-10-25T00:15:00Z",
      "2026-10-25T00:30:00.000Z",
    ],
    ["do not begin again at the second", "Europe/Berlin", "02:30", "2026-10-25T01:15:00Z", undefined],
    [
      "are an hour shorter in spring",
      "America/New_York",
      "08:00",
      "2026-03-08T03:00:00Z",
      "2026-03-08T12:00:00.000Z",
    ],
    [
      "are an hour longer in autumn",
      "America/New_York",
      "08:00",
      "2026-11-01T02:00:00Z",
      "2026-11-01T13:00:00.000Z",
    ],
    [
      "end after an hour that is skipped",
      "America/New_York",
      "02:30",
      "2026-03-08T06:45:00Z",
      "2026-03-08T07:30:00.000Z",
    ],
    [
      "end at the first of two equal times",
      "America/New_York",
      "01:30",
      "2026-11-01T05:15:00Z",
      "2026-11-01T05:30:00.000Z",
    ],
    ["do not begin again at the second", "America/New_York", "01:30", "2026-11-01T06:15:00Z", undefined],
  ])("%s in %s (until %s)", (_, zone, to, at, end) => {
    expect(endOf(zone, "22:00", to, at)).toBe(end);
  });

  test("that begin at a time that is skipped begin when the clocks go on", () => {
    expect(endOf("Europe/Berlin", "02:30", "05:00", "2026-03-29T01:29:00Z")).toBeUndefined();
    expect(endOf("Europe/Berlin", "02:30", "05:00", "2026-03-29T01:30:00Z")).toBe("2026-03-29T03:00:00.000Z");
  });
});
