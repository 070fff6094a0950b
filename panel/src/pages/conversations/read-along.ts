/** A message by its row and by its id on the network, which it has once it is sent. */
interface Addressed {
  id: number;
  message_id: string;
}

/** For each read that is on its way, the messages of which an event has come since it began. */
const underWay = new Set<Set<number | string>>();

/** An event has told of these messages, named by either id. */
export function noteChange(ids: readonly (number | string)[]): void {
  for (const changed of underWay) for (const id of ids) changed.add(id);
}

/** Reads messages beside the stream of events: what is found may be older than an event that is applied already. */
export async function readAlong<Found>(
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
