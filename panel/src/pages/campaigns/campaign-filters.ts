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

/** Reads the list's filter from the URL and drops invalid values. */
export function readCampaignFilter(search: Record<string, unknown>): CampaignFilter {
  const status = CAMPAIGN_STATUSES.find((known) => known === search.status);
  const instance = Number(search.instance);
  return {
    ...(status && { status }),
    ...(Number.isSafeInteger(instance) && instance > 0 && { instance }),
    ...(search.archived === true && { archived: true }),
  };
}

/** Reads the recipients' filter from the URL. */
export function readReportFilter(search: Record<string, unknown>): ReportFilter {
  const status = RECIPIENT_STATUSES.find((known) => known === search.status);
  return status ? { status } : {};
}
