import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";

/** A message by its row and by its id on the network, which it has once it is sent. */
interface Addressed {
  id: number;
  message_id: string;
}

/** For each read that is on its way, the messages of which an event has come since it began. */
const underWay = new Set<Set<number | string>>();

/** An event has told of these messages, named by either id. */
export function markChanged(ids: readonly (number | string)[]): void {
  for (const changed of underWay) for (const id of ids) changed.add(id);
}

/** Reads messages beside the stream of events: what is found may be older than an event that is applied already. */
export async function readWithStaleCheck<Found>(
  read: () => Promise<Found>,
): Promise<{ found: Found; isOutdated(message: Addressed): boolean }> {
  const changed = new Set<number | string>();
  underWay.add(changed);
  try {
    const found = await read();
    return { found, isOutdated: ({ id, message_id }) => changed.has(id) || changed.has(message_id) };
  } finally {
    underWay.delete(changed);
  }
}

/** A busy chat has an event in each of its reads. */
const LEAST_PAUSE_MS = 1_000;

/** Queries that are read once more after the read that is on its way. */
const repeats = new Set<string>();

/** Repeats the read of a query that is on its way, at most once a second: its response may be outdated. */
export function refetchAfterRead(client: QueryClient, queryKey: QueryKey): void {
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
