import { useQuery } from "@tanstack/react-query";
import { accountQuery } from "../../gateway/queries.ts";
import { ownZone } from "./zoned-time.ts";

/** The time zones of campaigns without one. */
export function useAccountZone() {
  const { data, isPending } = useQuery(accountQuery);
  const own = data?.settings.time_zone;
  return {
    isPending,
    /** Of the account, otherwise of this browser. */
    zone: own ?? ownZone(),
    /** The gateway's default for daily limits. */
    dayZone: own ?? "UTC",
  };
}
