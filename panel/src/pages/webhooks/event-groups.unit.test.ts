import { expect, test } from "vitest";
import { EVENT_NAMES } from "../../../../src/features/events/contract.ts";
import { expandEvents } from "../../../../src/features/webhooks/contract.ts";
import { ALL_EVENTS, toSingleEvents } from "./event-groups.ts";

test("the panel offers every event that a webhook can get, each once", () => {
  expect([...ALL_EVENTS].sort()).toEqual([...EVENT_NAMES].sort());
});

test.each([[[]], [["*"]], [["message.*", "call.received"]], [["webhook.*"]], [["media.ready"]]])(
  "the filter %j selects the same events in the panel as in the gateway",
  (filter) => {
    expect(toSingleEvents(filter).sort()).toEqual(expandEvents(filter).sort());
  },
);
