import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { gateway } from "../../gateway/gateway.ts";
import { type LeadFilter, toLeadQuery } from "./lead-filters.ts";

export type Lead = Awaited<ReturnType<typeof gateway.listLeads>>["data"][number];
export type LeadDetails = Awaited<ReturnType<typeof gateway.getLeadDetails>>["data"];
export type CustomField = Awaited<ReturnType<typeof gateway.listCustomFields>>["data"][number];
export type QuickReply = Awaited<ReturnType<typeof gateway.listQuickReplies>>["data"][number];
export type ConsentRecord = Awaited<ReturnType<typeof gateway.listConsent>>["data"][number];

const RESTING_MS = 30_000;

export const leadsQuery = (filter: LeadFilter) =>
  infiniteQueryOptions({
    queryKey: ["crm", "leads", filter],
    queryFn: async ({ pageParam, signal }) =>
      gateway.listLeads(
        { limit: 50, ...toLeadQuery(filter), ...(pageParam && { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ pagination }) => pagination.next_cursor ?? undefined,
    refetchInterval: RESTING_MS,
  });

export const labelsQuery = queryOptions({
  queryKey: ["crm", "labels"],
  queryFn: async ({ signal }) => (await gateway.listLeadLabels({}, { signal })).data,
});

export const fieldsQuery = queryOptions({
  queryKey: ["crm", "fields"],
  queryFn: ({ signal }) => readFields(signal),
});

/** All custom fields by name; an account has at most 100. */
export async function readFields(signal: AbortSignal): Promise<CustomField[]> {
  const { data } = await gateway.listCustomFields({ limit: 200 }, { signal });
  return data.toSorted((a, b) => a.name.localeCompare(b.name));
}

export const leadQuery = (id: number) =>
  queryOptions({
    queryKey: ["crm", "lead", id],
    queryFn: async ({ signal }) => (await gateway.getLeadDetails({ id }, { signal })).data,
    refetchInterval: RESTING_MS,
  });

export const MOST_ON_BOARD = 1_000;

export const boardQuery = (filter: LeadFilter) =>
  queryOptions({
    queryKey: ["crm", "board", filter],
    queryFn: async ({ signal }) => {
      const leads: Lead[] = [];
      let cursor: string | null = "";
      while (cursor !== null && leads.length < MOST_ON_BOARD) {
        const page: Awaited<ReturnType<typeof gateway.listLeads>> = await gateway.listLeads(
          { limit: 200, ...toLeadQuery(filter), ...(cursor && { cursor }) },
          { signal },
        );
        leads.push(...page.data);
        cursor = page.pagination.next_cursor;
      }
      return { leads, isCut: cursor !== null };
    },
    refetchInterval: RESTING_MS,
  });

const CONSENT_PAGES = 5;

/** The lead's consent records among the account's latest ones. */
export const consentQuery = (id: number, phone: string | null) =>
  queryOptions({
    queryKey: ["crm", "consent", id, phone],
    queryFn: async ({ signal }) => {
      const found: ConsentRecord[] = [];
      let cursor: string | null = "";
      for (let page = 0; page < CONSENT_PAGES && cursor !== null; page++) {
        const read: Awaited<ReturnType<typeof gateway.listConsent>> = await gateway.listConsent(
          { userId: "me", limit: 200, ...(cursor && { cursor }) },
          { signal },
        );
        found.push(
          ...read.data.filter((one) => one.lead_id === id || (phone !== null && one.phone === phone)),
        );
        cursor = read.pagination.next_cursor;
      }
      return found;
    },
  });

export const quickRepliesQuery = infiniteQueryOptions({
  queryKey: ["crm", "quick-replies"],
  queryFn: async ({ pageParam, signal }) =>
    gateway.listQuickReplies({ limit: 50, ...(pageParam && { cursor: pageParam }) }, { signal }),
  initialPageParam: "",
  getNextPageParam: ({ pagination }) => pagination.next_cursor ?? undefined,
});
