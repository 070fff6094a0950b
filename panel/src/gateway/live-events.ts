import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { gateway, pause } from "./gateway.ts";
import { followInstanceStates } from "./instance-states.ts";
import { isSignedOut } from "./queries.ts";
import { readEventStream, type StreamedEvent } from "./read-event-stream.ts";

export type LiveState = "connecting" | "live" | "reconnecting";

const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Minimum time between two refetches: a busy instance has hundreds of events per second. */
const REFRESH_MS = 400;

let state: LiveState = "connecting";
const listeners = new Set<() => void>();

function setState(next: LiveState): void {
  if (state === next) return;
  state = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(subscribe, () => state);
}

export interface LiveEvent {
  event_id: string;
  event: string;
  instance: { id: number; name: string };
  data: Record<string, unknown>;
}

const followers = new Set<(event: LiveEvent) => void>();

/** Calls `onEvent` for each event of the account while the component is mounted. */
export function useLiveEvent(onEvent: (event: LiveEvent) => void): void {
  const latest = useRef(onEvent);
  latest.current = onEvent;
  useEffect(() => {
    const follower = (event: LiveEvent) => latest.current(event);
    followers.add(follower);
    return () => {
      followers.delete(follower);
    };
  }, []);
}

function publish({ data }: StreamedEvent): void {
  if (followers.size === 0) return;
  const event = JSON.parse(data) as Partial<LiveEvent>;
  if (typeof event.event !== "string" || event.instance === undefined) return;
  for (const follower of followers) follower(event as LiveEvent);
}

/** Refetches what the events of the account change. */
export function useLiveEvents(): void {
  const client = useQueryClient();
  useEffect(() => {
    const stop = new AbortController();
    void follow(client, stop.signal);
    void followInstanceStates(client, stop.signal);
    return () => stop.abort();
  }, [client]);
}

async function follow(client: QueryClient, signal: AbortSignal): Promise<void> {
  let waitMs = SHORTEST_WAIT_MS;
  let lastId = "";
  while (!signal.aborted) {
    try {
      const headers: Record<string, string> = lastId === "" ? {} : { "last-event-id": lastId };
      const { stream } = await gateway.streamAccountEvents({}, { signal, headers });
      // Changes between two streams are unknown.
      if (state === "reconnecting") void client.invalidateQueries();
      setState("live");
      waitMs = SHORTEST_WAIT_MS;
      const refresh = createRefresh(client);
      for await (const event of readEventStream(stream)) {
        lastId = event.id;
        refresh();
        publish(event);
      }
    } catch (error) {
      if (signal.aborted || isSignedOut(error)) return;
      setState("reconnecting");
    }
    await pause(waitMs, signal);
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
  }
}

function createRefresh(client: QueryClient): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    if (timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      // Followed by its own stream.
      void client.invalidateQueries({
        queryKey: ["instances"],
        predicate: ({ queryKey }) => queryKey[1] !== "list",
      });
    }, REFRESH_MS);
  };
}
