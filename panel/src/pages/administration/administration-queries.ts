import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { gateway } from "../../gateway/gateway.ts";

type Input<Name extends keyof typeof gateway> = NonNullable<Parameters<(typeof gateway)[Name]>[0]>;
type Rows<
  Name extends "listAccounts" | "listPlans" | "listLogs" | "listBackups" | "listManagedDataRequests",
> = Awaited<ReturnType<(typeof gateway)[Name]>>["data"];

export type ManagedAccount = Rows<"listAccounts">[number];
export type Plan = Rows<"listPlans">[number];
export type LogEntry = Rows<"listLogs">[number];
export type Backup = Rows<"listBackups">[number];
export type ManagedRequest = Rows<"listManagedDataRequests">[number];
export type Monitor = Awaited<ReturnType<typeof gateway.adminMonitor>>["data"];
export type Alert = Monitor["alerts"][number];

const KEY = "administration";
const SOON_MS = 2_000;
const LIVE_MS = 5_000;
const RESTING_MS = 30_000;

interface Page {
  pagination: { next_cursor: string | null };
}

const pages = {
  initialPageParam: "",
  getNextPageParam: ({ pagination }: Page) => pagination.next_cursor ?? undefined,
};

const pageFrom = (cursor: string) => ({ limit: 50, ...(cursor !== "" && { cursor }) });

export const overviewQuery = queryOptions({
  queryKey: [KEY, "overview"],
  queryFn: async ({ signal }) => (await gateway.adminOverview({}, { signal })).data,
  refetchInterval: LIVE_MS,
});

/** The signed-in user's account over the last 24 hours. */
export const hoursQuery = queryOptions({
  queryKey: [KEY, "hours"],
  queryFn: async ({ signal }) => (await gateway.accountOverview({}, { signal })).data,
  refetchInterval: RESTING_MS,
});

export const monitorQuery = (filter: Pick<Input<"adminMonitor">, "status" | "account_id"> = {}) =>
  infiniteQueryOptions({
    queryKey: [KEY, "monitor", filter],
    queryFn: ({ pageParam, signal }) =>
      gateway.adminMonitor({ ...filter, ...pageFrom(pageParam) }, { signal }),
    ...pages,
    refetchInterval: LIVE_MS,
  });

export const accountsQuery = (filter: Omit<Input<"listAccounts">, "limit" | "cursor">) =>
  infiniteQueryOptions({
    queryKey: [KEY, "accounts", filter],
    queryFn: ({ pageParam, signal }) =>
      gateway.listAccounts({ ...filter, ...pageFrom(pageParam) }, { signal }),
    ...pages,
  });

export const managedAccountQuery = (id: number) =>
  queryOptions({
    queryKey: [KEY, "accounts", id],
    queryFn: async ({ signal }) =>
      (await gateway.listAccounts({ account_id: id, limit: 1 }, { signal })).data[0] ?? null,
  });

export const accountUsersQuery = (id: number) =>
  infiniteQueryOptions({
    queryKey: [KEY, "accounts", id, "users"],
    queryFn: ({ pageParam, signal }) => gateway.listAccountUsers({ id, ...pageFrom(pageParam) }, { signal }),
    ...pages,
  });

export const plansQuery = infiniteQueryOptions({
  queryKey: [KEY, "plans"],
  queryFn: ({ pageParam, signal }) =>
    gateway.listPlans({ limit: 200, ...(pageParam !== "" && { cursor: pageParam }) }, { signal }),
  ...pages,
});

export const logsQuery = (filter: Omit<Input<"listLogs">, "limit" | "cursor">) =>
  infiniteQueryOptions({
    queryKey: [KEY, "logs", filter],
    queryFn: ({ pageParam, signal }) => gateway.listLogs({ ...filter, ...pageFrom(pageParam) }, { signal }),
    ...pages,
  });

/** Polled often while a backup is running. */
export const backupsQuery = infiniteQueryOptions({
  queryKey: [KEY, "backups"],
  queryFn: ({ pageParam, signal }) => gateway.listBackups(pageFrom(pageParam), { signal }),
  ...pages,
  refetchInterval: ({ state }) => {
    const shown = state.data?.pages.flatMap(({ data }) => data) ?? [];
    return shown.some(({ status }) => status === "running") ? SOON_MS : RESTING_MS;
  },
});

export const heldWorkQuery = queryOptions({
  queryKey: [KEY, "held-work"],
  queryFn: async ({ signal }) => (await gateway.getHeldWork({}, { signal })).data,
  refetchInterval: RESTING_MS,
});

export const requestsQuery = (filter: Omit<Input<"listManagedDataRequests">, "limit" | "cursor">) =>
  infiniteQueryOptions({
    queryKey: [KEY, "requests", filter],
    queryFn: ({ pageParam, signal }) =>
      gateway.listManagedDataRequests({ ...filter, ...pageFrom(pageParam) }, { signal }),
    ...pages,
    refetchInterval: RESTING_MS,
  });

export const healthQuery = queryOptions({
  queryKey: [KEY, "health"],
  queryFn: ({ signal }) => gateway.health({}, { signal }),
  refetchInterval: LIVE_MS,
});
