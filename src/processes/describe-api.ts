import { EVENT_NAMES } from "../features/events/contract.ts";
import { EVENT_PAYLOADS, eventBody } from "../features/events/event-payloads.ts";
import { DELIVERY_HEADERS } from "../features/webhooks/delivery-headers.ts";
import type { Contract } from "../platform/http/route.ts";
import { createOpenApiDocument } from "../platform/openapi/openapi-document.ts";
import { readRecordedExamples } from "../platform/openapi/recorded-examples.ts";

/** The OpenAPI document of the gateway: a contract, and the events that webhooks receive. */
export function describeApi(contract: Contract): Record<string, unknown> {
  const examples = readRecordedExamples();
  const events = EVENT_NAMES.map((name) => {
    return [name, { ...EVENT_PAYLOADS[name], example: examples.events[name] }] as const;
  });
  const described = { body: eventBody, headers: DELIVERY_HEADERS, events: Object.fromEntries(events) };
  return createOpenApiDocument(contract, described, examples.schemas);
}
