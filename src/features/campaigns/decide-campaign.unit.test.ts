import { describe, expect, test } from "vitest";
import type { CampaignRow } from "./campaign-row.ts";
import { type CampaignInstanceState, decideCampaign, isPausedByGateway } from "./decide-campaign.ts";

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
