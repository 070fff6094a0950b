import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { gateway } from "../../api/gateway.ts";
import { accountQuery } from "../../api/queries.ts";
import { type Lead, labelsQuery } from "./crm-queries.ts";

/** The stages of the account in its order, then those that leads have besides. */
export function useStages(leads: readonly Lead[] = []) {
  const queries = useQueryClient();
  const account = useQuery(accountQuery);
  const labels = useQuery(labelsQuery);
  const own = account.data?.settings.lead_stages ?? [];
  const used = [
    ...(labels.data?.stages ?? []).map(({ name }) => name),
    ...leads.map(({ kanban_status }) => kanban_status),
  ].filter((name) => name !== null);
  const change = useMutation({
    mutationFn: (lead_stages: readonly string[]) =>
      gateway.updateAccount({ settings: { lead_stages: [...lead_stages] } }),
    onSuccess: ({ data }) => queries.setQueryData(accountQuery.queryKey, data),
  });
  const seen = useSeen(used);
  const stages = [...new Set([...own, ...seen])];
  return {
    stages,
    isPending: account.isPending,
    change,
    with: (names: readonly string[]) => [...new Set([...stages, ...names])],
    remove: (name: string) => {
      seen.delete(name);
      change.mutate(own.filter((one) => one !== name));
    },
  };
}

/** A stage stays on the page when its last lead leaves it, so that the lead can come back. */
function useSeen(names: readonly string[]): Set<string> {
  const seen = useRef(new Set<string>());
  for (const name of [...names].sort()) seen.current.add(name);
  return seen.current;
}
