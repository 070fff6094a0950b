import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { gateway } from "../../gateway/gateway.ts";

export type ListedCampaign = Awaited<ReturnType<typeof gateway.listCampaigns>>["data"][number];
export type Campaign = Omit<ListedCampaign, "totals">;
export type CampaignWithTotals = Awaited<ReturnType<typeof gateway.getCampaign>>["data"];
export type CampaignTotals = CampaignWithTotals["totals"];
export type Timeline = Awaited<ReturnType<typeof gateway.getCampaignTimeline>>["data"];
type Report = NonNullable<Awaited<ReturnType<typeof gateway.getCampaignReport>>["data"]>;
export type Recipient = Report["recipients"][number];

/** States in which the gateway works on a campaign. */
export const ACTIVE = new Set<Campaign["status"]>(["scheduled", "queued", "running"]);
const MOVING_MS = 2_000;
const RESTING_MS = 30_000;

export interface CampaignFilter {
  status?: Campaign["status"];
  instance?: number;
  archived?: true;
}

export interface ReportFilter {
  status?: Recipient["status"];
}

export const campaignsQuery = ({ status, instance, archived }: CampaignFilter) =>
  infiniteQueryOptions({
    queryKey: ["campaigns", "list", { status, instance, archived }],
    queryFn: async ({ pageParam, signal }) =>
      gateway.listCampaigns(
        {
          limit: 50,
          archived: archived ? "true" : "false",
          ...(status && { status }),
          ...(instance && { instance_id: instance }),
          ...(pageParam && { cursor: pageParam }),
        },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ pagination }) => pagination.next_cursor ?? undefined,
    refetchInterval: ({ state }) => {
      const shown = state.data?.pages.flatMap(({ data }) => data) ?? [];
      return shown.some((one) => ACTIVE.has(one.status)) ? MOVING_MS * 2 : RESTING_MS;
    },
  });

/** Polled often while the campaign is active. */
export const campaignQuery = (id: number) =>
  queryOptions({
    queryKey: ["campaigns", id, "row"],
    queryFn: async ({ signal }) => (await gateway.getCampaign({ id }, { signal })).data,
    refetchInterval: ({ state }) => (state.data && ACTIVE.has(state.data.status) ? MOVING_MS : RESTING_MS),
  });

export const timelineQuery = (id: number, isActive: boolean) =>
  queryOptions({
    queryKey: ["campaigns", id, "timeline"],
    queryFn: async ({ signal }) => (await gateway.getCampaignTimeline({ id }, { signal })).data,
    refetchInterval: isActive ? MOVING_MS * 2 : RESTING_MS,
  });

export const recipientsQuery = (id: number, { status }: ReportFilter, isActive: boolean) =>
  infiniteQueryOptions({
    queryKey: ["campaigns", id, "recipients", { status }],
    queryFn: async ({ pageParam, signal }) => {
      const cursor = pageParam === "" ? {} : { cursor: pageParam };
      const page = await gateway.getCampaignReport(
        { id, limit: 50, ...(status && { status }), ...cursor },
        { signal },
      );
      if (page.data === undefined) throw new Error("The report came as a file.");
      return { rows: page.data.recipients, next: page.pagination.next_cursor ?? undefined };
    },
    initialPageParam: "",
    getNextPageParam: ({ next }) => next,
    refetchInterval: isActive ? MOVING_MS * 2 : RESTING_MS,
  });

export const previewQuery = (id: number, phone: string) =>
  queryOptions({
    queryKey: ["campaigns", id, "preview", phone],
    queryFn: async ({ signal }) =>
      (await gateway.previewCampaign({ id, limit: 20, ...(phone !== "" && { phone }) }, { signal })).data,
  });

const MOST_INSTANCES = 1_000;

export const senderQuery = queryOptions({
  queryKey: ["instances", "senders"],
  queryFn: async ({ signal }) => {
    const found = [];
    let cursor: string | null = "";
    while (cursor !== null && found.length < MOST_INSTANCES) {
      const page: Awaited<ReturnType<typeof gateway.listInstances>> = await gateway.listInstances(
        { limit: 200, ...(cursor && { cursor }) },
        { signal },
      );
      found.push(...page.data);
      cursor = page.pagination.next_cursor;
    }
    return found;
  },
});
