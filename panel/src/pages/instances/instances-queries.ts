import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { gateway, type InstanceStatus } from "../../gateway/gateway.ts";
import { isLong } from "../../gateway/instance-states.ts";

export const STATUSES = [
  "connected",
  "reconnecting",
  "connecting",
  "qr_pending",
  "passkey_required",
  "created",
  "qr_expired",
  "disconnected",
  "logged_out",
  "banned",
  "error",
] as const satisfies readonly InstanceStatus[];

export const SORTS = ["newest", "oldest", "name"] as const;

export interface InstanceFilter {
  status?: InstanceStatus;
  search?: string;
  sort?: (typeof SORTS)[number];
}

export function readInstanceFilter({ status, search, sort }: Record<string, unknown>): InstanceFilter {
  const known = STATUSES.find((one) => one === status);
  const order = SORTS.find((one) => one === sort);
  const text = typeof search === "string" || typeof search === "number" ? String(search).slice(0, 100) : "";
  return {
    ...(known && { status: known }),
    ...(text.trim() && { search: text }),
    ...(order && order !== "newest" && { sort: order }),
  };
}

export function toInstanceQuery({ search, ...filter }: InstanceFilter) {
  return { ...filter, ...(search && { q: search }) };
}

/** Kept current by the state stream, so it rarely polls, and never after many pages. */
export const instanceListQuery = (filter: InstanceFilter) =>
  infiniteQueryOptions({
    queryKey: ["instances", "list", filter],
    queryFn: ({ pageParam, signal }) =>
      gateway.listInstances(
        { ...toInstanceQuery(filter), limit: 100, ...(pageParam && { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ pagination }) => pagination.next_cursor ?? undefined,
    refetchInterval: ({ state }) => (isLong(state.data) ? false : 60_000),
  });

export const apiKeyQuery = (id: number) =>
  queryOptions({
    queryKey: ["api-key", id],
    queryFn: async ({ signal }) => (await gateway.getApiKey({ id }, { signal })).data,
  });

export const proxyQuery = (id: number) =>
  queryOptions({
    queryKey: ["proxy", id],
    queryFn: async ({ signal }) => (await gateway.getProxy({ id }, { signal })).data,
  });

export const profileQuery = (id: number) =>
  queryOptions({
    queryKey: ["profile", id],
    queryFn: async ({ signal }) => (await gateway.getProfile({ id }, { signal })).data,
    staleTime: 60_000,
    retry: false,
  });

/** Deliveries to the built-in receiver, refreshed by its events. */
export const receiverQuery = (id: number) =>
  queryOptions({
    queryKey: ["instances", id, "receiver"],
    queryFn: async ({ signal }) => (await gateway.getReceiver({ id }, { signal })).data,
    // A closed receiver is not polled: events of the instance refetch it.
    refetchInterval: ({ state }) => (state.error === null ? 3_000 : false),
  });

export type Receiver = Awaited<ReturnType<typeof gateway.getReceiver>>["data"];
export type ReceivedWebhook = Receiver["received"][number];
