import type { FormatOptions } from "../../core/webhooks/webhooks.ts";
import { chatOf, type RecordedEvent } from "./recorded-event.ts";

/** The event in the structured mode of CloudEvents 1.0; `data` is the body of the format `native`. */
export function toCloudEvent(event: RecordedEvent, { baseUrl }: FormatOptions) {
  // The jid of an instance's event is its own.
  const chat = event.event.startsWith("instance.") ? "" : chatOf(event.data);
  return {
    specversion: "1.0",
    id: event.event_id,
    source: `${baseUrl}/api/v1/instances/${event.instance.id}`,
    type: `waygate.${event.event}`,
    ...(chat !== "" && { subject: chat }),
    time: event.timestamp,
    datacontenttype: "application/json",
    data: event,
  };
}
