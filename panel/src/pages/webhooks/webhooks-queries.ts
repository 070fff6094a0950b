import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { gateway } from "../../gateway/gateway.ts";
import type { AttemptFilter, EventFilter } from "./filters.ts";

/** Attempts emit no event, so these queries poll. */
const ASKED_AGAIN_MS = 5_000;
const MOVING_MS = 1_500;
const PAGE = 50;

export type Webhook = Awaited<ReturnType<typeof gateway.listWebhooks>>["data"][number];
export type Attempt = Awaited<ReturnType<typeof gateway.listDeliveryLogs>>["data"][number];
export type ListedEvent = Awaited<ReturnType<typeof gateway.listEvents>>["data"][number];
export type Delivery = ListedEvent["deliveries"][number];

export const webhooksQuery = (id: number) =>
  queryOptions({
    queryKey: ["instances", id, "webhooks"],
    queryFn: async ({ signal }) => (await gateway.listWebhooks({ id }, { signal })).data,
    refetchInterval: ASKED_AGAIN_MS,
  });

export const figuresQuery = (id: number, period: "day" | "week", webhook_id?: number) =>
  queryOptions({
    queryKey: ["webhooks", id, "figures", period, webhook_id],
    queryFn: async ({ signal }) => {
      const chosen = webhook_id === undefined ? {} : { webhook_id };
      return (await gateway.getWebhookFigures({ id, period, ...chosen }, { signal })).data;
    },
    refetchInterval: 10_000,
  });

export const lastFailureQuery = (id: number, webhook_id: number) =>
  queryOptions({
    queryKey: ["instances", id, "webhook-failure", webhook_id],
    queryFn: async ({ signal }) => {
      const { data } = await gateway.listDeliveryLogs(
        { id, webhook_id, success: "false", limit: 1 },
        { signal },
      );
      return data[0] ?? null;
    },
    refetchInterval: ASKED_AGAIN_MS,
  });

export const eventsOfQuery = (id: number, filter: EventFilter) =>
  infiniteQueryOptions({
    queryKey: ["instances", id, "webhook-events", filter],
    queryFn: ({ pageParam, signal }) =>
      gateway.listEvents({ id, limit: PAGE, ...toEventInput(filter), ...cursorOf(pageParam) }, { signal }),
    initialPageParam: "",
    getNextPageParam: ({ pagination }) => pagination.next_cursor ?? undefined,
    refetchInterval: ASKED_AGAIN_MS,
  });

/** Polled until every delivery has ended. */
export const recordedEventQuery = (id: number, eventId: string) =>
  queryOptions({
    queryKey: ["instances", id, "webhook-event", eventId],
    queryFn: async ({ signal }) => (await gateway.getEvent({ id, eventId }, { signal })).data,
    refetchInterval: ({ state }) =>
      state.data?.deliveries.some(({ status }) => status === "pending") ? MOVING_MS : ASKED_AGAIN_MS,
  });

export const attemptsQuery = (id: number, filter: AttemptFilter) =>
  infiniteQueryOptions({
    queryKey: ["instances", id, "attempts", filter],
    queryFn: ({ pageParam, signal }) =>
      gateway.listDeliveryLogs(
        { id, limit: PAGE, ...toAttemptInput(filter), ...cursorOf(pageParam) },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ pagination }) => pagination.next_cursor ?? undefined,
    refetchInterval: ASKED_AGAIN_MS,
  });

export const attemptsOfEventQuery = (id: number, event_id: string) =>
  queryOptions({
    queryKey: ["instances", id, "attempts-of", event_id],
    queryFn: async ({ signal }) =>
      (await gateway.listDeliveryLogs({ id, event_id, limit: 200 }, { signal })).data,
    refetchInterval: MOVING_MS,
  });

export const attemptQuery = (id: number, logId: number) =>
  queryOptions({
    queryKey: ["webhooks", id, "attempt", logId],
    queryFn: async ({ signal }) => (await gateway.getDeliveryLog({ id, logId }, { signal })).data,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** One page; more are shown as "at least". */
export const MOST_COUNTED = 200;

/** Events since a time whose delivery is pending or being retried. */
export const waitingQuery = (id: number, webhook_id: number, from: string) =>
  queryOptions({
    queryKey: ["instances", id, "recovering", webhook_id, from],
    queryFn: async ({ signal }) => {
      const lists = await Promise.all(
        (["pending", "retrying", "parked"] as const).map((status) =>
          gateway.listEvents({ id, webhook_id, status, from, limit: MOST_COUNTED }, { signal }),
        ),
      );
      return lists.reduce((sum, { data }) => sum + data.length, 0);
    },
  });

function cursorOf(cursor: string) {
  return cursor === "" ? {} : { cursor };
}

export function toEventInput({ webhook, state, ...filter }: EventFilter) {
  return {
    ...filter,
    ...(webhook !== undefined && { webhook_id: webhook }),
    ...(state && { status: state }),
  };
}

export function toAttemptInput({ webhook, status, result, ...filter }: AttemptFilter) {
  return {
    ...filter,
    ...(webhook !== undefined && { webhook_id: webhook }),
    ...(status !== undefined && { status_code: status }),
    ...(result && { success: result === "succeeded" ? "true" : "false" }),
  };
}
