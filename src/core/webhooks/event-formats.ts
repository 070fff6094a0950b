import { GatewayError } from "../../platform/gateway-error.ts";
import type { EventName } from "../events/contract.ts";
import type { WebhookFormat } from "./contract.ts";

/** What a body in the format of another gateway is made from besides the event. */
export interface FormatOptions {
  /** The webhook's own URL. */
  url: string;
  token: string | null;
  /** URL of this gateway. */
  baseUrl: string;
}

/** A format beside the gateway's own, for receivers that were written for it. */
export interface EventFormat {
  /** The events that have a counterpart in the format. */
  events: readonly EventName[];
  /** Default: `application/json; charset=utf-8`. */
  contentType?: string;
  /** Whether reports of deliveries have this format too; otherwise they are native. */
  hasReports?: boolean;
  /** The body of a recorded event, parsed from its bytes; undefined without a counterpart. */
  toBody(event: unknown, options: FormatOptions): unknown;
}

/** The formats that this gateway has beside its own, by name. */
export type EventFormats = Readonly<Partial<Record<Exclude<WebhookFormat, "native">, EventFormat>>>;

/** Returns the given names that a webhook of this format can receive. */
export function supportedEvents(
  formats: EventFormats,
  format: WebhookFormat,
  names: readonly string[],
): string[] {
  if (format === "native") return [...names];
  const known: readonly string[] = getFormat(formats, format).events;
  return names.filter((name) => known.includes(name));
}

/**
 * Formats an event for a webhook; undefined if the format has no counterpart. Uses only the recorded bytes
 * and the webhook's settings, so that every attempt sends the same bytes.
 */
export function formatEventBody(
  formats: EventFormats,
  body: Buffer,
  format: WebhookFormat,
  options: FormatOptions,
): Buffer | undefined {
  if (format === "native") return body;
  const event = JSON.parse(body.toString("utf8")) as { event: string };
  const known = formats[format];
  if (event.event.startsWith("webhook.") && !known?.hasReports) return body;
  const shaped = known?.toBody(event, options);
  return shaped === undefined ? undefined : Buffer.from(JSON.stringify(shaped));
}

/** The type of the bodies of a format. */
export function contentTypeOf(formats: EventFormats, format: WebhookFormat): string {
  return (format !== "native" && formats[format]?.contentType) || "application/json; charset=utf-8";
}

function getFormat(formats: EventFormats, format: Exclude<WebhookFormat, "native">): EventFormat {
  const found = formats[format];
  if (!found)
    throw new GatewayError("NOT_AVAILABLE", `This gateway does not have the webhook format ${format}.`);
  return found;
}
