import { toSingleEvents, USUAL_EVENTS, type WebhookEvent } from "./event-groups.ts";
import type { Webhook } from "./webhooks-queries.ts";

export interface WebhookDraft {
  name: string;
  url: string;
  events: WebhookEvent[];
  exclude: ("sent_by_api" | "from_me" | "groups")[];
  ordering: Webhook["ordering"];
  retry_enabled: boolean;
  max_attempts: string;
  headers: string;
  format: Webhook["format"];
  format_token: string;
}

export function newDraft(): WebhookDraft {
  return {
    name: "",
    url: "",
    events: [...USUAL_EVENTS],
    exclude: [],
    ordering: "chat",
    retry_enabled: true,
    max_attempts: "10",
    headers: "",
    format: "native",
    format_token: "",
  };
}

export function toDraft(webhook: Webhook): WebhookDraft {
  const { name, url, ordering, retry_enabled, format } = webhook;
  return {
    name,
    url,
    ordering,
    retry_enabled,
    format,
    events: toSingleEvents(webhook.events),
    exclude: webhook.exclude as WebhookDraft["exclude"],
    max_attempts: String(webhook.max_attempts),
    headers: Object.entries(webhook.headers)
      .map(([header, value]) => `${header}: ${value}`)
      .join("\n"),
    format_token: webhook.format_token ?? "",
  };
}

type Texts = Partial<Record<string, string>>;

/** The request for a form: controlled values and text inputs. */
export function toWebhookInput(draft: WebhookDraft, texts: Texts) {
  const { events, exclude, ordering, retry_enabled, format } = draft;
  const { name = "", url = "", max_attempts, headers = "", format_token = "" } = texts;
  return {
    name: name.trim(),
    url: url.trim(),
    events,
    exclude,
    ordering,
    retry_enabled,
    format,
    headers: toHeaders(headers),
    ...(max_attempts !== undefined && { max_attempts: Number(max_attempts) }),
    ...(format !== "native" && { format_token: format_token.trim() || null }),
  };
}

/** Parses one `Name: value` per line. */
export function toHeaders(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":");
      return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
