import type { CompatibilityFormat, WebhookFormat } from "./contract.ts";
import type { FormatOptions, RecordedEvent } from "./recorded-event.ts";
import { toEvolution } from "./to-evolution.ts";
import { toUazapi } from "./to-uazapi.ts";
import { toWaha } from "./to-waha.ts";

const SHAPES: Record<CompatibilityFormat, (event: RecordedEvent, options: FormatOptions) => unknown> = {
  evolution: toEvolution,
  uazapi: toUazapi,
  waha: toWaha,
};

/**
 * Formats an event for a webhook; undefined if the format has no counterpart. Uses only the recorded bytes
 * and the webhook's settings, so that every attempt sends the same bytes. Reports of deliveries are always
 * native.
 */
export function formatEventBody(
  body: Buffer,
  format: WebhookFormat,
  options: FormatOptions,
): Buffer | undefined {
  if (format === "native") return body;
  const event = JSON.parse(body.toString("utf8")) as RecordedEvent;
  if (event.event.startsWith("webhook.")) return body;
  const shaped = SHAPES[format](event, options);
  return shaped === undefined ? undefined : Buffer.from(JSON.stringify(shaped));
}
