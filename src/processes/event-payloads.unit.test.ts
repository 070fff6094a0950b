import { expect, test } from "vitest";
import { eventBody } from "../core/event-payloads.ts";
import { EVENT_NAMES, STREAM_EVENTS } from "../core/events/contract.ts";
import { eventExample } from "../core/events/event-example.ts";
import { EVENT_PAYLOADS } from "./extensions.ts";

test.each([...EVENT_NAMES, ...STREAM_EVENTS])(
  "the described payload of %s has exactly the fields of its example",
  (event) => {
    const { data, ...fields } = eventExample(event);
    expect(eventBody.strict().parse(fields)).toEqual(fields);
    expect(EVENT_PAYLOADS[event]?.data.parse(data)).toEqual(data);
  },
);
