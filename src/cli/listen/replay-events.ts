import type { Client } from "../../client/client.ts";
import { expandEvents } from "../../features/webhooks/contract.ts";
import type { EventArrivals } from "./event-arrivals.ts";

/** The events of a replay, oldest first. */
export interface FoundEvents {
  ids: string[];
  /** Whether there are older ones that the replay leaves out. */
  hasMore: boolean;
}

const PAGE = 200;
const MAX_EVENTS = 1_000;
const ARRIVAL_MS = 20_000;

/** The newest events since a time that the filter of the webhook includes, at most 1,000. */
export async function findEventsSince(
  client: Client,
  { instanceId, since, events }: { instanceId: number; since: Date; events: readonly string[] },
): Promise<FoundEvents> {
  const names = new Set<string>(expandEvents(events));
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { data, pagination } = await client.listEvents({ id: instanceId, limit: PAGE, cursor });
    const recent = data.filter(({ created_at }) => new Date(created_at) >= since);
    ids.push(...recent.filter(({ event }) => names.has(event)).map(({ event_id }) => event_id));
    const isAtEnd = recent.length < data.length || !pagination.has_more || pagination.next_cursor === null;
    if (isAtEnd || ids.length > MAX_EVENTS)
      return { ids: ids.slice(0, MAX_EVENTS).reverse(), hasMore: ids.length > MAX_EVENTS };
    cursor = pagination.next_cursor ?? undefined;
  }
}

export interface Replay {
  instanceId: number;
  webhookId: number;
  ids: readonly string[];
  arrivals: EventArrivals;
  signal: AbortSignal;
}

/** Lets the gateway send each event to this webhook alone, one after the other; returns the ids that did not arrive. */
export async function replayEvents(client: Client, replay: Replay): Promise<string[]> {
  const { instanceId: id, webhookId: webhook_id, arrivals } = replay;
  const lost: string[] = [];
  for (const eventId of replay.ids) {
    if (replay.signal.aborted) break;
    const event_id = await findEventId(client, id, eventId);
    const arrival = arrivals.next(event_id, ARRIVAL_MS);
    await client.retryEvent({ id, eventId: event_id, webhook_id });
    if (!(await arrival)) lost.push(event_id);
  }
  return lost;
}

/** An event may also be named by its number. */
async function findEventId(client: Client, id: number, eventId: string): Promise<string> {
  if (eventId.startsWith("evt_")) return eventId;
  return (await client.getEvent({ id, eventId })).data.event_id;
}
