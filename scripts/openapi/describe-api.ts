import { contract } from "../../src/contract.ts";
import { eventBody } from "../../src/core/event-payloads.ts";
import { EVENT_NAMES } from "../../src/core/events/contract.ts";
import { DELIVERY_HEADERS } from "../../src/core/webhooks/delivery/delivery-headers.ts";
import { readRecordedExamples } from "../../src/platform/openapi/recorded-examples.ts";
import { EVENT_PAYLOADS } from "../../src/processes/extensions.ts";
import { createOpenApiDocument } from "./openapi-document.ts";

/** The OpenAPI document of the gateway: its contract, and the events that webhooks receive. */
export function describeApi(): Record<string, unknown> {
  const examples = readRecordedExamples();
  const events = EVENT_NAMES.flatMap((name) => {
    const payload = EVENT_PAYLOADS[name];
    return payload ? [[name, { ...payload, example: examples.events[name] }] as const] : [];
  });
  const described = { body: eventBody, headers: DELIVERY_HEADERS, events: Object.fromEntries(events) };
  return createOpenApiDocument(contract, described, examples.schemas);
}
