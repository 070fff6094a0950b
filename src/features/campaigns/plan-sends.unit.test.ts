import { describe, expect, test, vi } from "vitest";
import { type PlanSendsInput, planSends, type SendSchedule, startOfDay } from "./plan-sends.ts";

const STEADY: SendSchedule = {
  min_delay_ms: 1_000,
  max_delay_ms: 3_000,
  quiet_hours: null,
  daily_limit: null,
  time_zone: null,
};

function plan(from: string, rhythm: Partial<SendSchedule> = {}, order: Partial<PlanSendsInput> = {}) {
  const start = new Date(from);
  const { moments, nextAt } = planSends({
    schedule: { ...STEADY, ...rhythm },
    from: start,
    until: new Date(start.getTime() + 10_000),
    count: 100,
    plannedToday: 0,
    random: () => 0.5,
    ...order,
  });
  return { moments: moments.map((at) => at.toISOString()), nextAt: nextAt.toISOString() };
}

test("planned sends are a delay between min and max apart, up to the horizon", () => {
  const { moments, nextAt } = plan("2026-11-20T12:00:00.000Z");
  expect(moments.map((at) => at.slice(17, 23))).toEqual([
    "00.000",
    "02.000",
    "04.000",
    "06.000",
    "08.000",
    "10.000",
  ]);
  expect(nextAt).toBe("2026-11-20T12:00:12.000Z");
  expect(plan("2026-11-20T12:00:00.000Z", {}, { random: () => 0 }).moments[1]).toContain("00:01.000");
  expect(plan("2026-11-20T12:00:00.000Z", {}, { random: () => 0.999 }).moments[1]).toContain("00:02.998");
});

test("planned sends never exceed the number of recipients", () => {
  expect(plan("2026-11-20T12:00:00.000Z", {}, { count: 2 })).toMatchObject({
    moments: [expect.anything(), expect.anything()],
    nextAt: "2026-11-20T12:00:04.000Z",
  });
});

describe("quiet hours", () => {
  const NIGHT = { start: "22:00", end: "08:00", tz: "America/Sao_Paulo" };

  test.each([
    ["2026-11-20T00:59:59.000Z", "2026-11-20T00:59:59.000Z", "before they begin"],
    ["2026-11-20T01:00:00.000Z", "2026-11-20T11:00:00.000Z", "at their start"],
    ["2026-11-20T04:00:00.000Z", "2026-11-20T11:00:00.000Z", "after midnight"],
    ["2026-11-20T11:00:00.000Z", "2026-11-20T11:00:00.000Z", "at their end"],
  ])("starting at %s make the first send due at %s: %s", (from, first) => {
    const { moments, nextAt } = plan(from, { quiet_hours: NIGHT });
    expect(moments[0] ?? nextAt).toBe(first);
  });

  test("within a day end on the same day", () => {
    const noon = { start: "12:00", end: "14:00", tz: "UTC" };
    expect(plan("2026-11-20T12:30:00.000Z", { quiet_hours: noon })).toEqual({
      moments: [],
      nextAt: "2026-11-20T14:00:00.000Z",
    });
  });

  test.each([
    ["2026-11-20T11:59:59.000Z", "2026-11-20T11:59:59.000Z", "before they begin"],
    ["2026-11-20T12:00:00.000Z", "2026-11-20T14:00:00.000Z", "at their start"],
    ["2026-11-20T14:00:00.000Z", "2026-11-20T14:00:00.000Z", "at their end"],
    ["2026-11-20T18:00:00.000Z", "2026-11-20T18:00:00.000Z", "after them"],
  ])("within a day, starting at %s, make the first send due at %s: %s", (from, first) => {
    const noon = { start: "12:00", end: "14:00", tz: "UTC" };
    const { moments, nextAt } = plan(from, { quiet_hours: noon });
    expect(moments[0] ?? nextAt).toBe(first);
  });

  test("that begin and end at the same time never apply", () => {
    const never = { start: "12:00", end: "12:00", tz: "UTC" };
    const noon = "2026-11-20T12:00:00.000Z";
    expect(plan(noon, { quiet_hours: never }).moments[0]).toBe(noon);
  });

  test.each([
    ["2026-03-29T00:30:00.000Z", "2026-03-29T05:00:00.000Z", "the clocks go forward"],
    ["2026-10-25T00:30:00.000Z", "2026-10-25T06:00:00.000Z", "the clocks go back"],
  ])("in a night with a clock change, starting at %s, end at %s: %s", (from, end) => {
    const berlin = { start: "23:00", end: "07:00", tz: "Europe/Berlin" };
    expect(plan(from, { quiet_hours: berlin }).nextAt).toBe(end);
  });

  test("are over even if the clock change skips their end", () => {
    const skipped = { start: "23:00", end: "02:30", tz: "Europe/Berlin" };
    expect(plan("2026-03-28T23:00:00.000Z", { quiet_hours: skipped }).nextAt).toBe(
      "2026-03-29T01:30:00.000Z",
    );
  });
});

describe("a daily limit", () => {
  test("moves the remaining sends to the next day of the time zone", () => {
    const quiet_hours = { start: "03:00", end: "03:01", tz: "America/Sao_Paulo" };
    const { moments, nextAt } = plan(
      "2026-11-20T12:00:00.000Z",
      { daily_limit: 3, quiet_hours },
      { plannedToday: 1 },
    );
    expect(moments).toHaveLength(2);
    expect(nextAt).toBe("2026-11-21T03:00:00.000Z");
  });

  test("is reset after midnight, in UTC without a time zone", () => {
    const { moments } = plan("2026-11-20T23:59:57.000Z", { daily_limit: 2 }, { plannedToday: 1 });
    expect(moments).toEqual([
      "2026-11-20T23:59:57.000Z",
      "2026-11-21T00:00:00.000Z",
      "2026-11-21T00:00:02.000Z",
    ]);
  });

  test("counts anew for the first send after midnight", () => {
    const { moments } = plan("2026-11-20T23:59:59.000Z", { daily_limit: 1 });
    expect(moments).toEqual(["2026-11-20T23:59:59.000Z", "2026-11-21T00:00:01.000Z"]);
  });

  test("counts from midnight in the time zone of the quiet hours, else of the account, else in UTC", () => {
    const at = new Date("2026-11-20T02:00:00.000Z");
    const startsAt = (zones: Partial<SendSchedule>) => startOfDay({ ...STEADY, ...zones }, at).toISOString();
    const time_zone = "Europe/Berlin";
    const quiet_hours = { start: "22:00", end: "08:00", tz: "America/Sao_Paulo" };
    expect(startsAt({ quiet_hours, time_zone })).toBe("2026-11-19T03:00:00.000Z");
    expect(startsAt({ time_zone })).toBe("2026-11-19T23:00:00.000Z");
    expect(startsAt({})).toBe("2026-11-20T00:00:00.000Z");
  });

  test("together with quiet hours moves sends to the morning", () => {
    const quiet_hours = { start: "22:00", end: "08:00", tz: "UTC" };
    expect(
      plan("2026-11-20T21:00:00.000Z", { daily_limit: 1, quiet_hours }, { plannedToday: 1 }).nextAt,
    ).toBe("2026-11-21T08:00:00.000Z");
  });

  test.each([
    ["2026-10-24T23:30:00.000Z", "2026-10-25T23:00:00.000Z", "Europe/Berlin", "is an hour longer"],
    ["2026-03-28T23:30:00.000Z", "2026-03-29T22:00:00.000Z", "Europe/Berlin", "is an hour shorter"],
    [
      "2026-03-28T12:00:00.000Z",
      "2026-03-28T22:00:00.000Z",
      "Asia/Beirut",
      "is followed by one without a midnight",
    ],
  ])("reached at %s lasts until %s in %s: the day %s", (from, next, tz) => {
    const quiet_hours = { start: "12:00", end: "12:01", tz };
    expect(plan(from, { daily_limit: 1, quiet_hours }, { plannedToday: 1 })).toEqual({
      moments: [],
      nextAt: next,
    });
  });
});

test("a hundred spellings of time zones are remembered, the ones used last", () => {
  const { DateTimeFormat } = Intl;
  const formats = vi.spyOn(Intl as { DateTimeFormat: unknown }, "DateTimeFormat", "get");
  formats.mockReturnValue(DateTimeFormat);
  const use = (nth: number) => {
    const tz = [..."america/bahia"].map((sign, at) => ((nth >> at) & 1 ? sign.toUpperCase() : sign)).join("");
    startOfDay(
      { ...STEADY, quiet_hours: { start: "22:00", end: "06:00", tz } },
      new Date("2026-11-20T12:00:00Z"),
    );
    return formats.mock.calls.length;
  };
  for (let nth = 0; nth < 101; nth++) use(nth);
  expect([use(100), use(1), use(0), use(0)]).toEqual([101, 101, 102, 102]);
});
