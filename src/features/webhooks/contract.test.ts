import { expect, test } from "vitest";
import { DEFAULT_EVENTS } from "../events/contract.ts";
import { expandEvents } from "./contract.ts";

test("an empty filter stands for the messages and connections of the specification", () => {
  expect(expandEvents([])).toEqual([...DEFAULT_EVENTS]);
  expect(expandEvents([])).toHaveLength(11);
});

test("the star stands for the 14 published names, extra names only for themselves", () => {
  expect(expandEvents(["*"])).toHaveLength(14);
  expect(expandEvents(["*"])).not.toContain("message.delivered");
  expect(expandEvents(["message.delivered"])).toEqual(["message.delivered"]);
});

test("a group stands for its published names, each once", () => {
  expect(expandEvents(["message.*", "message.sent"])).toHaveLength(7);
  expect(expandEvents(["webhook.*"])).toEqual(["webhook.sent", "webhook.failed", "webhook.retrying"]);
});
