import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EVENT_NAMES } from "../features/events/contract.ts";
import { EVENT_PAYLOADS, eventBody } from "../features/events/event-payloads.ts";
import { DELIVERY_HEADERS } from "../features/webhooks/delivery-headers.ts";
import { packageRoot } from "../platform/config/package-version.ts";
import type { Contract } from "../platform/http/route.ts";
import { createOpenApiDocument } from "../platform/openapi/openapi-document.ts";
import type { RecordedResponses } from "../platform/openapi/response-examples.ts";

/** The OpenAPI document of the gateway: a contract, and the events that webhooks receive. */
export function describeApi(contract: Contract): Record<string, unknown> {
  const events = EVENT_NAMES.map((name) => {
    return [name, { ...EVENT_PAYLOADS[name], example: readExample(name) }] as const;
  });
  const described = { body: eventBody, headers: DELIVERY_HEADERS, events: Object.fromEntries(events) };
  return createOpenApiDocument(contract, described, readJson("response-examples.json") as RecordedResponses);
}

/** The tested payload that the page of the event shows. */
function readExample(event: string): unknown {
  return readJson(`events/${event}.json`);
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(join(packageRoot(), "docs/reference", name), "utf8"));
}
