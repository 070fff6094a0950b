import type { WebhookEvent } from "./event-groups.ts";

const DELIVERY_STATES = ["pending", "retrying", "delivered", "failed", "parked", "discarded"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Filter of the events in the URL. */
export interface EventFilter {
  event?: WebhookEvent;
  webhook?: number;
  state?: DeliveryState;
  from?: string;
  to?: string;
}

/** Filter of the attempts in the URL. */
export interface AttemptFilter {
  result?: "succeeded" | "failed";
  webhook?: number;
  status?: number;
  event?: WebhookEvent;
  from?: string;
  to?: string;
}

/** Time range of the charts. */
export interface Period {
  period?: "day" | "week";
}

type Search = Record<string, unknown>;

/** Drops invalid values of the URL. */
export function readEventFilter(search: Search): EventFilter {
  const state = DELIVERY_STATES.find((one) => one === search.state);
  return { ...readCommon(search), ...(state && { state }) };
}

export function readAttemptFilter(search: Search): AttemptFilter {
  const { result } = search;
  const status = readNumber(search.status, 599);
  return {
    ...readCommon(search),
    ...((result === "succeeded" || result === "failed") && { result }),
    ...(status !== undefined && status >= 100 && { status }),
  };
}

export function readPeriod({ period }: Search): Period {
  return period === "week" ? { period } : {};
}

function readCommon({ event, webhook, from, to }: Search) {
  const id = readNumber(webhook, Number.MAX_SAFE_INTEGER);
  const since = readTime(from);
  const until = readTime(to);
  return {
    ...(typeof event === "string" &&
      /^[a-z_.]{1,60}$/.test(event) && {
        // The gateway rejects an unknown event and lists the valid ones.
        event: event as WebhookEvent,
      }),
    ...(id !== undefined && { webhook: id }),
    ...(since && { from: since }),
    ...(until && { to: until }),
  };
}

function readNumber(value: unknown, most: number): number | undefined {
  const number = Number(value);
  const isNamed = value !== undefined && value !== null && value !== "";
  return isNamed && Number.isSafeInteger(number) && number > 0 && number <= most ? number : undefined;
}

function readTime(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 40) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
