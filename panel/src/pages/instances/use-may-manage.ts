import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "../../api/queries.ts";

/** Whether the signed-in user may change instances; an agent may only use them. */
export function useMayManage(): boolean {
  const { data } = useQuery(sessionQuery);
  return data !== undefined && data.user.role !== "agent";
}
