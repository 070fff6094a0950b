import { expect, test } from "vitest";
import { DEFAULT_EVENTS } from "../events/contract.ts";
import { expandEvents } from "./contract.ts";

test("an empty filter means the specification's message and connection events", () => {
  expect(expandEvents([])).toEqual([...DEFAULT_EVENTS]);
  expect(expandEvents([])).toHaveLength(11);
});

test("the filter * means the 14 published names; an extra name must be named exactly", () => {
  expect(expandEvents(["*"])).toHaveLength(14);
  expect(expandEvents(["*"])).not.toContain("message.delivered");
  expect(expandEvents(["message.delivered"])).toEqual(["message.delivered"]);
});

test("a group filter means its published names, each once", () => {
  expect(expandEvents(["message.*", "message.sent"])).toHaveLength(7);
  expect(expandEvents(["webhook.*"])).toEqual(["webhook.sent", "webhook.failed", "webhook.retrying"]);
});
