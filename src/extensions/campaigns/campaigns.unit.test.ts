import { describe, expect, test, vi } from "vitest";
import type { Route } from "../../platform/http/route.ts";
import {
  createRenderer,
  invalidPlaceholdersOf,
  LONGEST_MESSAGE,
  type RecipientFacts,
  valuesOf,
  variablesOf,
} from "../../platform/text/render-template.ts";
import type { CampaignRow } from "./campaign-row.ts";
import { campaignsContract } from "./contract.ts";
import { type CampaignInstanceState, decideCampaign, isPausedByGateway } from "./decide-campaign.ts";
import { type PlanSendsInput, planSends, type SendSchedule, startOfDay } from "./plan-sends.ts";

test("every route of campaigns is part of the feature that a plan can leave out", () => {
  const others = Object.entries<Route>(campaignsContract).filter(
    ([, { feature }]) => feature !== "campaigns",
  );
  expect(others).toEqual([]);
});

const NOBODY: RecipientFacts = { phone: "5511999990001", variables: {}, lead: null, contact_name: null };
const render = (template: string, facts: Partial<RecipientFacts> = {}) =>
  createRenderer(template)(valuesOf({ ...NOBODY, ...facts }));

describe("the text for a recipient", () => {
  test("has the values of its variables, in any case and with spaces", () => {
    const variables = { City: "Recife", "order no": "7", ação: "sim", "a.b-c_d": "x" };
    expect(render("{{city}} {{ CITY }} {{\n Order No }} {{AÇÃO}} {{a.b-c_d}}", { variables })).toBe(
      "Recife Recife 7 sim x",
    );
  });

  test("is empty where a variable has no value", () => {
    expect(render("Hi {{name}}!")).toBe("Hi !");
  });

  test("has the phone of the recipient, whatever the variables say", () => {
    expect(render("{{phone}}", { variables: { phone: "1" } })).toBe("5511999990001");
  });

  test("prefers the recipient's own value, then the lead's, then the contact's", () => {
    const lead = { name: "Bia", email: "bia@example.com", custom_fields: { Name: "field", plan: "gold" } };
    const contact_name = "Bia from the phone";
    expect(render("{{name}}", { contact_name })).toBe("Bia from the phone");
    expect(render("{{name}}", { contact_name, lead: { ...lead, name: null } })).toBe("field");
    expect(render("{{name}} {{email}}", { contact_name, lead })).toBe("Bia bia@example.com");
    expect(render("{{name}}", { contact_name, lead, variables: { name: "B." } })).toBe("B.");
  });

  test("ignores empty values, so that the next source counts", () => {
    const lead = { name: "", email: null, custom_fields: {} };
    expect(render("{{name}}", { contact_name: "Bia", lead, variables: { name: "" } })).toBe("Bia");
  });

  test("has custom fields by their name, with or without the prefix", () => {
    const lead = { name: null, email: null, custom_fields: { Plan: "gold", seats: 0, is_new: false } };
    expect(render("{{plan}} {{custom_fields.plan}} {{seats}} {{is_new}}", { lead })).toBe(
      "gold gold 0 false",
    );
  });

  test("keeps what only looks like a variable", () => {
    const template = "{{name|you}} {{}} {{ }} {name} {{a";
    expect(render(template, { contact_name: "Bia" })).toBe(template);
  });

  test("has no variable with a name of more than 64 characters", () => {
    const longest = `a${"b".repeat(62)}c`;
    expect(render(`{{${longest}}}`, { variables: { [longest]: "x" } })).toBe("x");
    expect(render(`{{${longest}d}}`, { variables: { [`${longest}d`]: "x" } })).toBe(`{{${longest}d}}`);
  });
});

test("a text for a recipient ends behind its first character too many, however many variables follow", () => {
  const reads: string[] = [];
  class CountedValues extends Map<string, string> {
    override get(name: string) {
      reads.push(name);
      return super.get(name);
    }
  }
  const values = new CountedValues([["a", "x".repeat(1_000)]]);
  expect(createRenderer("{{a}}".repeat(13_107))(values)).toBe("x".repeat(LONGEST_MESSAGE + 1));
  expect(reads).toHaveLength(66);
  expect(createRenderer(`${"{{a}}".repeat(65)}${"y".repeat(536)}`)(values)).toHaveLength(LONGEST_MESSAGE);
});

describe("a template", () => {
  test("names its variables once each, in lower case", () => {
    expect(variablesOf("{{Name}} {{ name }} {{city}} {{a b}} {{x|y}}")).toEqual(["name", "city", "a b"]);
    expect(variablesOf("no variable")).toEqual([]);
  });

  test("names what only looks like a variable, once each", () => {
    expect(invalidPlaceholdersOf("{{name}} {{name|you}} {{name|you}} {{}} {{open} {{open2")).toEqual([
      "{{name|you}}",
      "{{}}",
      "{{open}",
      "{{open2",
    ]);
    expect(invalidPlaceholdersOf("Hi {{name}} {one}")).toEqual([]);
    const many = Array.from({ length: 60 }, (_, at) => `{{${at}|}}`);
    expect(invalidPlaceholdersOf(many.join(""))).toEqual(many.slice(0, 50));
  });
});

const NOW = new Date("2026-11-20T12:00:00Z");
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);

const campaignOf = (changed: Partial<CampaignRow> = {}) =>
  ({
    status: "running",
    status_reason: null,
    scheduled_at: null,
    updated_at: minutesAgo(60),
    ...changed,
  }) as CampaignRow;

const instanceOf = (changed: Partial<CampaignInstanceState> = {}) =>
  ({ status: "connected", account_state: "active", ...changed }) as CampaignInstanceState;

const decide = (
  campaign: Partial<CampaignRow> = {},
  instance: CampaignInstanceState | undefined = instanceOf(),
) => decideCampaign(campaignOf(campaign), instance, NOW);

describe("a campaign", () => {
  test.each(["scheduled", "queued", "running"] as const)("that is %s runs", (status) => {
    expect(decide({ status })).toEqual({ what: "run" });
  });

  test.each(["created", "paused", "completed", "cancelled", "failed"] as const)(
    "that is %s is over, with its instance or without",
    (status) => {
      expect(decide({ status })).toEqual({ what: "over" });
      expect(decideCampaign(campaignOf({ status }), undefined, NOW)).toEqual({ what: "over" });
    },
  );

  test("fails if its instance was removed", () => {
    expect(decideCampaign(campaignOf(), undefined, NOW)).toEqual({ what: "fail" });
  });

  test("waits for its start time", () => {
    const scheduled_at = new Date(NOW.getTime() + 1);
    expect(decide({ status: "scheduled", scheduled_at })).toEqual({ what: "wait", until: scheduled_at });
    expect(decide({ status: "scheduled", scheduled_at: NOW })).toEqual({ what: "run" });
    expect(decide({ status: "running", scheduled_at })).toEqual({ what: "run" });
  });

  test("waits for its start time even if its instance is disconnected", () => {
    const scheduled_at = new Date(NOW.getTime() + 1);
    const decision = decide({ status: "scheduled", scheduled_at }, instanceOf({ status: "disconnected" }));
    expect(decision.what).toBe("wait");
  });

  test.each(["disconnected", "reconnecting", "banned"] as const)(
    "is paused while its instance is %s",
    (status) => {
      expect(decide({}, instanceOf({ status }))).toEqual({ what: "pause", reason: "instance_disconnected" });
    },
  );

  test.each(["paused", "blocked", "expired", "cancelled"])(
    "is paused while its account is %s",
    (account_state) => {
      expect(decide({}, instanceOf({ account_state }))).toEqual({
        what: "pause",
        reason: "account_restricted",
      });
    },
  );

  test("runs while its account is on trial", () => {
    expect(decide({}, instanceOf({ account_state: "trial" }))).toEqual({ what: "run" });
  });
});

describe("a campaign that the gateway has paused", () => {
  test.each(["instance_disconnected", "account_restricted", "message_quota"])(
    "because of %s runs again when the reason has ended",
    (status_reason) => {
      expect(isPausedByGateway({ status: "paused", status_reason })).toBe(true);
      expect(decide({ status: "paused", status_reason })).toEqual({ what: "run" });
    },
  );

  test("because of the monthly quota is tried again ten minutes later", () => {
    const paused = { status: "paused", status_reason: "message_quota" } as const;
    expect(decide({ ...paused, updated_at: minutesAgo(9.99) })).toEqual({
      what: "pause",
      reason: "message_quota",
    });
    expect(decide({ ...paused, updated_at: minutesAgo(10) })).toEqual({ what: "run" });
  });

  test("for another reason does not wait ten minutes", () => {
    const paused = { status: "paused", status_reason: "instance_disconnected" } as const;
    expect(decide({ ...paused, updated_at: NOW })).toEqual({ what: "run" });
  });

  test.each([null, "", "error_rate", "user"])("is paused by a user if the reason is %j", (status_reason) => {
    expect(isPausedByGateway({ status: "paused", status_reason })).toBe(false);
    expect(decide({ status: "paused", status_reason })).toEqual({ what: "over" });
  });

  test("is paused only in the state paused", () => {
    expect(isPausedByGateway({ status: "failed", status_reason: "message_quota" })).toBe(false);
  });
});

const STEADY: SendSchedule = {
  min_delay_ms: 1_000,
  max_delay_ms: 3_000,
  quiet_hours: null,
  daily_limit: null,
  time_zone: null,
};

function plan(from: string, rhythm: Partial<SendSchedule> = {}, order: Partial<PlanSendsInput> = {}) {
  const start = new Date(from);
  const { moments, nextAt, waitingFor } = planSends({
    schedule: { ...STEADY, ...rhythm },
    from: start,
    until: new Date(start.getTime() + 10_000),
    count: 100,
    plannedToday: 0,
    random: () => 0.5,
    ...order,
  });
  return { moments: moments.map((at) => at.toISOString()), nextAt: nextAt.toISOString(), waitingFor };
}

test("planned sends are a delay between min and max apart, up to the horizon", () => {
  const { moments, nextAt, waitingFor } = plan("2026-11-20T12:00:00.000Z");
  expect(moments.map((at) => at.slice(17, 23))).toEqual([
    "00.000",
    "02.000",
    "04.000",
    "06.000",
    "08.000",
    "10.000",
  ]);
  expect([nextAt, waitingFor]).toEqual(["2026-11-20T12:00:12.000Z", null]);
  expect(plan("2026-11-20T12:00:00.000Z", {}, { random: () => 0 }).moments[1]).toContain("00:01.000");
  expect(plan("2026-11-20T12:00:00.000Z", {}, { random: () => 0.999 }).moments[1]).toContain("00:02.998");
});

test("a long pause between two recipients is what the campaign waits for", () => {
  const slow = { min_delay_ms: 60_000, max_delay_ms: 60_000 };
  expect(plan("2026-11-20T12:00:00.000Z", slow)).toMatchObject({
    moments: ["2026-11-20T12:00:00.000Z"],
    nextAt: "2026-11-20T12:01:00.000Z",
    waitingFor: "delay",
  });
  const until = new Date("2026-11-20T12:00:15.000Z");
  expect(plan("2026-11-20T12:01:00.000Z", slow, { until })).toEqual({
    moments: [],
    nextAt: "2026-11-20T12:01:00.000Z",
    waitingFor: "delay",
  });
});

test("planned sends never exceed the number of recipients", () => {
  expect(plan("2026-11-20T12:00:00.000Z", {}, { count: 2 })).toMatchObject({
    moments: [expect.anything(), expect.anything()],
    nextAt: "2026-11-20T12:00:04.000Z",
  });
});

describe("quiet hours", () => {
  const NIGHT = { start: "22:00", end: "08:00", tz: "America/Sao_Paulo" };
  const NOON = { start: "12:00", end: "14:00", tz: "UTC" };
  const NEVER = { start: "12:00", end: "12:00", tz: "UTC" };
  const BERLIN = { start: "23:00", end: "07:00", tz: "Europe/Berlin" };
  const SKIPPED = { start: "23:00", end: "02:30", tz: "Europe/Berlin" };

  test.each([
    ["before a night", NIGHT, "2026-11-20T00:59:59.000Z"],
    ["at the end of a night", NIGHT, "2026-11-20T11:00:00.000Z"],
    ["before those within a day", NOON, "2026-11-20T11:59:59.000Z"],
    ["at the end of those within a day", NOON, "2026-11-20T14:00:00.000Z"],
    ["after those within a day", NOON, "2026-11-20T18:00:00.000Z"],
    ["of no length", NEVER, "2026-11-20T12:00:00.000Z"],
  ])("do not hold up a send: %s", (_, quiet_hours, from) => {
    expect(plan(from, { quiet_hours }).moments[0]).toBe(from);
  });

  test.each([
    ["at the start of a night", NIGHT, "2026-11-20T01:00:00.000Z", "2026-11-20T11:00:00.000Z"],
    ["after midnight", NIGHT, "2026-11-20T04:00:00.000Z", "2026-11-20T11:00:00.000Z"],
    ["at the start of those within a day", NOON, "2026-11-20T12:00:00.000Z", "2026-11-20T14:00:00.000Z"],
    ["in a night in which the clocks go forward", BERLIN, "2026-03-29T00:30:00Z", "2026-03-29T05:00:00.000Z"],
    ["in a night in which the clocks go back", BERLIN, "2026-10-25T00:30:00Z", "2026-10-25T06:00:00.000Z"],
    ["whose end the clocks skip", SKIPPED, "2026-03-28T23:00:00.000Z", "2026-03-29T01:30:00.000Z"],
  ])("hold up every send until their end: %s", (_, quiet_hours, from, nextAt) => {
    expect(plan(from, { quiet_hours })).toEqual({ moments: [], nextAt, waitingFor: "quiet_hours" });
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
      plan("2026-11-20T21:00:00.000Z", { daily_limit: 1, quiet_hours }, { plannedToday: 1 }),
    ).toMatchObject({ nextAt: "2026-11-21T08:00:00.000Z", waitingFor: "daily_limit" });
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
      waitingFor: "daily_limit",
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
