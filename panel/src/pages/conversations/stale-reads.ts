import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";

/** A message by its row id and, once sent, its network id. */
interface Addressed {
  id: number;
  message_id: string;
}

/** For each running read, the messages with an event since it started. */
const underWay = new Set<Set<number | string>>();

/** Records that an event has changed these messages, given by either id. */
export function markChanged(ids: readonly (number | string)[]): void {
  for (const changed of underWay) for (const id of ids) changed.add(id);
}

/** Reads messages and reports which of them are older than an event received meanwhile. */
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

/** In a busy chat every read overlaps an event. */
const LEAST_PAUSE_MS = 1_000;

/** Queries that are refetched after their running read. */
const repeats = new Set<string>();

/** Refetches a query after its running read, at most once a second, because the response may be stale. */
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
