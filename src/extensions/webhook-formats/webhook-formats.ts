import { EVENT_NAMES } from "../../core/events/contract.ts";
import type { EventFormats } from "../../core/webhooks/webhooks.ts";
import { toCloudEvent } from "./cloud-events.ts";
import { FORMAT_EVENTS } from "./contract.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import { toEvolution } from "./to-evolution.ts";
import { toUazapi } from "./to-uazapi.ts";
import { toWaha } from "./to-waha.ts";

/** Every format beside the gateway's own. */
export const WEBHOOK_FORMATS: EventFormats = {
  cloudevents: {
    events: EVENT_NAMES,
    hasReports: true,
    contentType: "application/cloudevents+json; charset=utf-8",
    toBody: (event, options) => toCloudEvent(event as RecordedEvent, options),
  },
  evolution: {
    events: FORMAT_EVENTS.evolution,
    toBody: (event, options) => toEvolution(event as RecordedEvent, options),
  },
  uazapi: {
    events: FORMAT_EVENTS.uazapi,
    toBody: (event, options) => toUazapi(event as RecordedEvent, options),
  },
  waha: {
    events: FORMAT_EVENTS.waha,
    toBody: (event, options) => toWaha(event as RecordedEvent, options),
  },
};
