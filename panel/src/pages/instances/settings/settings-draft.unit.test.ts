import { expect, test } from "vitest";
import type { Instance } from "../../../gateway/gateway.ts";
import { findDraftErrors, toChange, toDraft } from "./settings-draft.ts";

const SETTINGS = {
  reject_calls: true,
  reject_message: "Please write",
  ignore_groups: false,
  mark_online: false,
  read_messages: true,
  send_delay_min_ms: 1_500,
  send_delay_max_ms: 4_000,
  messages_per_minute: null,
  media_retention_days: 30,
  on_unknown: "fail",
  device_name: null,
  default_country: "BR",
} as const;
const ROW = { name: "Sales", metadata: { shop: 3 }, webhook_enabled: true, settings: SETTINGS };

test("the settings of an instance pass through the form unchanged", () => {
  expect(toChange(toDraft(ROW as unknown as Instance))).toEqual(ROW);
});

test("a pause takes a decimal comma, and an empty limit means none", () => {
  const draft = { ...toDraft(ROW as unknown as Instance), delay_min: "0,25", media_retention_days: " " };
  expect(toChange(draft).settings).toMatchObject({ send_delay_min_ms: 250, media_retention_days: null });
});

test("an invalid number or JSON object is found before the request", () => {
  const draft = { ...toDraft(ROW as unknown as Instance), delay_max: "soon", metadata: "[1]" };
  expect(findDraftErrors(draft)).toEqual({ delay_max: "number", metadata: "json" });
});
