import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";

/** A busy chat has an event in each of its reads. */
const LEAST_PAUSE_MS = 1_000;

/** Queries that are read once more after the read that is on its way. */
const repeats = new Set<string>();

/** Repeats the read of a query that is on its way, at most once a second: its response may be outdated. */
export function readOnceMore(client: QueryClient, queryKey: QueryKey): void {
  const name = JSON.stringify(queryKey);
  if (repeats.has(name) || client.isFetching({ queryKey }) === 0) return;
  repeats.add(name);
  void whenRead(client, queryKey).then(() => {
    setTimeout(() => {
      repeats.delete(name);
      void client.invalidateQueries({ queryKey });
    }, LEAST_PAUSE_MS);
  });
}

async function whenRead(client: QueryClient, queryKey: QueryKey): Promise<void> {
  const predicate = ({ state }: Query) => state.fetchStatus === "fetching";
  await client.refetchQueries({ queryKey, predicate }, { cancelRefetch: false });
}
