import { useQuery } from "@tanstack/react-query";
import { accountQuery } from "../../gateway/queries.ts";
import { ownZone } from "./zoned-time.ts";

/** The time zones for campaigns that name none. */
export function useAccountZone() {
  const { data, isPending } = useQuery(accountQuery);
  const own = data?.settings.time_zone;
  return {
    isPending,
    /** For their times: of the account, or else of this browser. */
    zone: own ?? ownZone(),
    /** In which the gateway counts their days. */
    dayZone: own ?? "UTC",
  };
}
