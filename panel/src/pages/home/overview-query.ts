import { queryOptions } from "@tanstack/react-query";
import { gateway } from "../../api/gateway.ts";

/** Problems with advice, instances by status, and the last 24 hours. */
export const overviewQuery = queryOptions({
  queryKey: ["overview"],
  queryFn: async ({ signal }) => (await gateway.accountOverview({}, { signal })).data,
  refetchInterval: 30_000,
});

export type Overview = Awaited<ReturnType<typeof gateway.accountOverview>>["data"];
export type Alert = Overview["alerts"][number];
