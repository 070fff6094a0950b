import { infiniteQueryOptions } from "@tanstack/react-query";
import { gateway } from "../../gateway/gateway.ts";

export const LOG_KINDS = ["connections", "messages", "webhooks", "api"] as const;
export type LogKind = (typeof LOG_KINDS)[number];
const PERIODS = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const;
export type LogPeriod = keyof typeof PERIODS;
export const LOG_PERIODS = Object.keys(PERIODS) as LogPeriod[];

export interface LogFilter {
  kind?: LogKind;
  failed?: true;
  period?: LogPeriod;
}

export function readLogFilter({ kind, failed, period }: Record<string, unknown>): LogFilter {
  const known = LOG_KINDS.find((one) => one === kind);
  const since = LOG_PERIODS.find((one) => one === period);
  return {
    ...(known && { kind: known }),
    ...((failed === true || failed === "true") && { failed: true }),
    ...(since && { period: since }),
  };
}

export async function readLogPage(
  id: number,
  { kind = "connections", failed, period }: LogFilter,
  page: { limit: number; cursor?: string },
  signal?: AbortSignal,
) {
  const since = period && new Date(Date.now() - PERIODS[period]).toISOString();
  const { data, pagination } = await gateway.listInstanceLogs(
    { id, type: kind, ...(failed && { failed: "true" }), ...(since && { since }), ...page },
    { ...(signal && { signal }) },
  );
  return { entries: data, pagination };
}

type LogEntries = Awaited<ReturnType<typeof readLogPage>>["entries"];
export type LogEntry<Kind extends LogKind> = LogEntries[Kind][number];

export const logQuery = (id: number, filter: LogFilter) =>
  infiniteQueryOptions({
    queryKey: ["instances", id, "log", filter],
    queryFn: ({ pageParam, signal }) =>
      readLogPage(id, filter, { limit: 50, ...(pageParam && { cursor: pageParam }) }, signal),
    initialPageParam: "",
    getNextPageParam: ({ pagination }) => pagination.next_cursor ?? undefined,
    refetchInterval: 15_000,
  });
