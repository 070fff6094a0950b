import { infiniteQueryOptions, MutationCache, QueryClient, queryOptions } from "@tanstack/react-query";
import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { gateway, type InstanceStatus } from "./gateway.ts";

/** Statuses that change without user action within seconds. */
const MOVING = new Set<InstanceStatus>(["connecting", "qr_pending", "passkey_required", "reconnecting"]);
const MOVING_MS = 2_000;
const RESTING_MS = 30_000;

/** "always": without a network a mutation fails at once, instead of running unexpectedly later. */
const MUTATIONS = { retry: false, networkMode: "always" } as const;

export function createQueryClient(): QueryClient {
  // A 404 on a mutation means that the page is outdated.
  const mutationCache = new MutationCache({
    onError: (error) => void (isNotFound(error) && client.invalidateQueries()),
  });
  const client = new QueryClient({
    mutationCache,
    defaultOptions: { queries: { retry: shouldRetry, staleTime: 5_000 }, mutations: MUTATIONS },
  });
  return client;
}

export function isNotFound(error: unknown): boolean {
  return error instanceof WaygateError && error.code === "NOT_FOUND";
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof WaygateError && error.status === 401;
}

/** Retries lost requests, never refusals. */
function shouldRetry(failures: number, error: Error): boolean {
  const isRefused = error instanceof WaygateError && error.status < 500;
  return !isRefused && failures < 2;
}

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async ({ signal }) => (await gateway.me({}, { signal })).data,
  staleTime: 60_000,
});

/** The account of the signed-in user, with its plan and usage. */
export const accountQuery = queryOptions({
  queryKey: ["account"],
  queryFn: async ({ signal }) => (await gateway.getAccount({}, { signal })).data,
  staleTime: 30_000,
});

export const instancesQuery = infiniteQueryOptions({
  queryKey: ["instances"],
  queryFn: async ({ pageParam, signal }) =>
    gateway.listInstances({ limit: 50, ...(pageParam && { cursor: pageParam }) }, { signal }),
  initialPageParam: "",
  getNextPageParam: ({ pagination }) => pagination.next_cursor ?? undefined,
  refetchInterval: ({ state }) => {
    const shown = state.data?.pages.flatMap(({ data }) => data) ?? [];
    return shown.some(({ status }) => MOVING.has(status)) ? MOVING_MS : RESTING_MS;
  },
});

export const instanceQuery = (id: number) =>
  queryOptions({
    queryKey: ["instances", id, "row"],
    queryFn: async ({ signal }) => (await gateway.getInstance({ id }, { signal })).data,
  });

/** The state of one instance, polled often while it changes. */
export const stateQuery = (id: number) =>
  queryOptions({
    queryKey: ["instances", id, "state"],
    queryFn: async ({ signal }) => (await gateway.getInstanceStatus({ id }, { signal })).data,
    refetchInterval: ({ state }) => (state.data && MOVING.has(state.data.status) ? MOVING_MS : RESTING_MS),
  });

/** The QR code or pairing code that the phone needs now. */
export const pairingQuery = (id: number) =>
  queryOptions({
    queryKey: ["instances", id, "pairing"],
    queryFn: async ({ signal }) => (await gateway.getInstanceQr({ id }, { signal })).data,
    refetchInterval: MOVING_MS,
    staleTime: 0,
  });

export const eventsQuery = (id: number) =>
  queryOptions({
    queryKey: ["instances", id, "events"],
    queryFn: async ({ signal }) => (await gateway.listEvents({ id, limit: 20 }, { signal })).data,
    refetchInterval: RESTING_MS,
  });

/** Polls a message until it is read. */
export const messageQuery = (id: number, messageId: string) =>
  queryOptions({
    queryKey: ["instances", id, "message", messageId],
    queryFn: async ({ signal }) => (await gateway.getMessage({ id, messageId }, { signal })).data,
    refetchInterval: ({ state }) =>
      ["read", "played", "failed", "cancelled"].includes(state.data?.status ?? "") ? false : MOVING_MS,
  });

export const eventQuery = (id: number, eventId: string) =>
  queryOptions({
    queryKey: ["event", id, eventId],
    queryFn: async ({ signal }) => (await gateway.getEvent({ id, eventId }, { signal })).data,
    staleTime: Number.POSITIVE_INFINITY,
  });

export type RecordedEvent = Awaited<ReturnType<typeof gateway.listEvents>>["data"][number];
