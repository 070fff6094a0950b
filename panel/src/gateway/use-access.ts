import { useQuery } from "@tanstack/react-query";
import { mayOpen, type Need } from "./access.ts";
import type { Signed } from "./gateway.ts";
import { sessionQuery } from "./queries.ts";

export interface Access {
  signed: Signed | undefined;
  may(need: Need): boolean;
}

/** What the signed-in user may do. The gateway enforces it; the panel only hides what it would refuse. */
export function useAccess(): Access {
  const { data: signed } = useQuery(sessionQuery);
  return { signed, may: (need) => signed !== undefined && mayOpen(need, signed) };
}
