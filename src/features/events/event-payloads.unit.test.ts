import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXAMPLES } from "../../../test/event-examples.ts";
import { EVENT_NAMES, STREAM_EVENTS } from "./contract.ts";
import { EVENT_PAYLOADS, eventBody } from "./event-payloads.ts";

test.each([...EVENT_NAMES, ...STREAM_EVENTS])(
  "the described payload of %s has exactly the fields of its example",
  (event) => {
    const body = JSON.parse(readFileSync(join(EXAMPLES, `${event}.json`), "utf8"));
    const { data, ...fields } = body;
    expect(eventBody.strict().parse(fields)).toEqual(fields);
    expect(EVENT_PAYLOADS[event].data.parse(data)).toEqual(data);
  },
);
