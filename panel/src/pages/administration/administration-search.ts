/** Values that URLs of the administration may contain. */
export const ACCOUNT_STATUSES = ["active", "trial", "paused", "blocked", "expired", "cancelled"] as const;
export const ACCOUNT_TYPES = ["owner", "reseller", "client"] as const;
export const LOG_TYPES = ["audit", "api", "connections", "messages", "webhooks"] as const;
export const REQUEST_STATUSES = ["processing", "completed", "failed"] as const;
export const REQUEST_TYPES = ["export", "anonymize"] as const;
export const INSTANCE_STATUSES = [
  "created",
  "connecting",
  "qr_pending",
  "qr_expired",
  "passkey_required",
  "connected",
  "reconnecting",
  "disconnected",
  "logged_out",
  "banned",
  "error",
] as const;

/** Search parameters of the filtered lists. */
export interface MonitorSearch {
  status?: (typeof INSTANCE_STATUSES)[number] | undefined;
  account?: number | undefined;
}

export interface AccountsSearch {
  search?: string | undefined;
  status?: (typeof ACCOUNT_STATUSES)[number] | undefined;
  type?: (typeof ACCOUNT_TYPES)[number] | undefined;
  reseller?: number | undefined;
}

export interface LogsSearch {
  type?: (typeof LOG_TYPES)[number] | undefined;
  account?: number | undefined;
  instance?: number | undefined;
  action?: string | undefined;
  event?: string | undefined;
  result?: "good" | "bad" | undefined;
}

export interface RequestsSearch {
  account?: number | undefined;
  type?: (typeof REQUEST_TYPES)[number] | undefined;
  status?: (typeof REQUEST_STATUSES)[number] | undefined;
}

/** Turns a date into the end of that day in local time. The gateway validates everything else. */
export function readTrialEnd(typed: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(typed.trim())) return typed;
  const end = new Date(`${typed.trim()}T23:59:59`);
  return Number.isNaN(end.getTime()) ? typed : end.toISOString();
}
