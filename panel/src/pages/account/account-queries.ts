import { infiniteQueryOptions } from "@tanstack/react-query";
import { gateway } from "../../gateway/gateway.ts";

export const ROLES = ["super_admin", "admin", "agent"] as const;
export type Role = (typeof ROLES)[number];

export type AccountUser = Awaited<ReturnType<typeof gateway.listUsers>>["data"][number];
export type Assistant = Awaited<ReturnType<typeof gateway.listAssistants>>["data"][number];
export type DataRequest = Awaited<ReturnType<typeof gateway.listDataRequests>>["data"][number];
export type ConsentRecord = Awaited<ReturnType<typeof gateway.listConsent>>["data"][number];
export type OwnAccount = Awaited<ReturnType<typeof gateway.getAccount>>["data"];

interface Page {
  pagination: { next_cursor: string | null };
}

const pages = {
  initialPageParam: "",
  getNextPageParam: ({ pagination }: Page) => pagination.next_cursor ?? undefined,
};

const pageFrom = (cursor: string, limit = 50) => ({ limit, ...(cursor !== "" && { cursor }) });

export const usersQuery = infiniteQueryOptions({
  queryKey: ["account", "users"],
  queryFn: ({ pageParam, signal }) => gateway.listUsers(pageFrom(pageParam, 200), { signal }),
  ...pages,
});

export const assistantsQuery = infiniteQueryOptions({
  queryKey: ["account", "assistants"],
  queryFn: ({ pageParam, signal }) => gateway.listAssistants(pageFrom(pageParam), { signal }),
  ...pages,
});

const WORKING_MS = 2_000;

/** Polled while a request is processing. */
export const dataRequestsQuery = infiniteQueryOptions({
  queryKey: ["account", "data-requests"],
  queryFn: ({ pageParam, signal }) => gateway.listDataRequests(pageFrom(pageParam), { signal }),
  ...pages,
  refetchInterval: ({ state }) => {
    const shown = state.data?.pages.flatMap(({ data }) => data) ?? [];
    return shown.some(({ status }) => status === "processing") ? WORKING_MS : false;
  },
});

export const consentQuery = infiniteQueryOptions({
  queryKey: ["account", "consent"],
  queryFn: ({ pageParam, signal }) =>
    gateway.listConsent({ userId: "me", ...pageFrom(pageParam) }, { signal }),
  ...pages,
});
