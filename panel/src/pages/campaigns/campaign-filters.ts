import type { Campaign, CampaignFilter, Recipient, ReportFilter } from "./campaigns-queries.ts";

export const CAMPAIGN_STATUSES = [
  "created",
  "scheduled",
  "queued",
  "running",
  "paused",
  "completed",
  "cancelled",
  "failed",
] as const satisfies readonly Campaign["status"][];

export const RECIPIENT_STATUSES = [
  "pending",
  "queued",
  "sent",
  "delivered",
  "read",
  "failed",
  "skipped",
  "cancelled",
] as const satisfies readonly Recipient["status"][];

/** The filter of the list in its address; what is not valid is left out. */
export function readCampaignFilter(search: Record<string, unknown>): CampaignFilter {
  const status = CAMPAIGN_STATUSES.find((known) => known === search.status);
  const instance = Number(search.instance);
  return {
    ...(status && { status }),
    ...(Number.isSafeInteger(instance) && instance > 0 && { instance }),
    ...(search.archived === true && { archived: true }),
  };
}

/** The filter of a campaign's recipients in its address. */
export function readReportFilter(search: Record<string, unknown>): ReportFilter {
  const status = RECIPIENT_STATUSES.find((known) => known === search.status);
  return status ? { status } : {};
}
