import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { gateway } from "../../api/gateway.ts";
import { accountQuery } from "../../api/queries.ts";
import { type Lead, labelsQuery } from "./crm-queries.ts";

/** What is added or taken off, not the list: another person may change it at the same time. */
interface StageChange {
  add_lead_stages?: string[];
  remove_lead_stages?: string[];
}

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
    mutationFn: (stages: StageChange) => gateway.updateAccount(stages),
    onSuccess: ({ data }) => queries.setQueryData(accountQuery.queryKey, data),
  });
  const seen = useSeen(used);
  const stages = [...new Set([...own, ...seen])];
  return {
    stages,
    isPending: account.isPending,
    change,
    /** With those that only leads have, which so keep their place before the new ones. */
    adding: (names: readonly string[]): StageChange => ({
      add_lead_stages: [...stages, ...names].filter((name) => !own.includes(name)),
    }),
    remove: (name: string) => {
      seen.delete(name);
      change.mutate({ remove_lead_stages: [name] });
    },
  };
}

/** A stage stays on the page when its last lead leaves it, so that the lead can come back. */
function useSeen(names: readonly string[]): Set<string> {
  const seen = useRef(new Set<string>());
  for (const name of [...names].sort()) seen.current.add(name);
  return seen.current;
}
