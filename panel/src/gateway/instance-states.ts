import type { InfiniteData, Query, QueryClient } from "@tanstack/react-query";
import { gateway, type Instance, type InstanceState, type Pairing, pause } from "./gateway.ts";
import {
  findPosition,
  type InstanceListFilter,
  type InstanceListPage,
  insertInstance,
  withoutInstance,
} from "./insert-instance.ts";
import { isSignedOut } from "./queries.ts";
import { readEventStream, type StreamedEvent } from "./read-event-stream.ts";

const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Minimum time between two refetches of lists and counts. */
const REFRESH_MS = 1_000;

const LISTS = { queryKey: ["instances", "list"] };
/** Longer lists are not refetched as a whole when an instance joins or leaves. */
const MOST_PAGES = 5;
/** Instances that are inserted into a long list in one refresh. An import may add more. */
const MOST_PLACED = 20;

/** One frame of the stream: connection state and pairing code. */
type StreamedState = Pick<
  InstanceState,
  | "id"
  | "name"
  | "status"
  | "connected"
  | "phone"
  | "jid"
  | "lid"
  | "profile_name"
  | "profile_picture_url"
  | "reason"
  | "attempts"
  | "pairing_error"
  | "qr_reason"
  | "hint"
  | "attention"
> &
  Omit<Pairing, "id" | "status">;

/** Refetches what a frame does not contain. */
interface StateRefresh {
  lists(): void;
  counts(): void;
  /** Inserts an instance into the long lists, which are not refetched. */
  place(state: StreamedState): void;
}

/** Follows the states of all instances until the signal aborts, and writes them into the query cache. */
export async function followInstanceStates(client: QueryClient, signal: AbortSignal): Promise<void> {
  let waitMs = SHORTEST_WAIT_MS;
  const refresh: StateRefresh = {
    lists: throttle(() => void client.invalidateQueries({ ...LISTS, predicate: isRefreshed })),
    counts: throttle(() => void client.invalidateQueries({ queryKey: ["overview"] })),
    place: createPlacing(client),
  };
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      const { stream } = await gateway.streamInstanceStates({}, { signal });
      // Changes between two streams are unknown.
      if (!isFirst) void client.invalidateQueries({ queryKey: ["instances"] });
      waitMs = SHORTEST_WAIT_MS;
      for await (const frame of readEventStream(stream)) applyFrame(client, frame, refresh);
    } catch (error) {
      if (signal.aborted || isSignedOut(error)) return;
    }
    await pause(waitMs, signal);
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
  }
}

/** Whether a refetch of the list would cost many requests. */
export function isLong(list: InfiniteData<unknown> | undefined): boolean {
  return (list?.pages.length ?? 0) > MOST_PAGES;
}

const isRefreshed = ({ state }: Query) => !isLong(state.data as InfiniteData<unknown> | undefined);

function applyFrame(client: QueryClient, { name, data }: StreamedEvent, refresh: StateRefresh): void {
  if (name === "ready") return;
  refresh.counts();
  if (name === "state") applyState(client, JSON.parse(data) as StreamedState, refresh);
  else {
    const { id } = JSON.parse(data) as { id: number };
    client.setQueriesData<InfiniteData<InstanceListPage>>(LISTS, (old) => old && withoutInstance(old, id));
    refresh.lists();
  }
}

function applyState(client: QueryClient, state: StreamedState, refresh: StateRefresh): void {
  const { id, name, status, phone, jid, lid, profile_name, profile_picture_url, attention, reason } = state;
  const shown = { name, status, phone, jid, lid, profile_name, profile_picture_url, attention };
  const row = { ...shown, connection_status: status, phone_connected: phone, last_disconnect_reason: reason };
  const changed = { ...row, updated_at: new Date().toISOString() };
  client.setQueryData<Instance>(["instances", id, "row"], (old) => old && { ...old, ...row });
  client.setQueryData<InstanceState>(["instances", id, "state"], (old) => old && { ...old, ...state });
  client.setQueryData<Pairing>(["instances", id, "pairing"], (old) => old && { ...old, ...state });
  let isListed = false;
  let isMoved = false;
  client.setQueriesData<InfiniteData<InstanceListPage>>(LISTS, (old) => {
    if (!old?.pages.some(({ data }) => data.some((one) => one.id === id))) return old;
    isListed = true;
    isMoved ||= old.pages.some(({ data }) => data.some((one) => one.id === id && one.status !== status));
    const patch = (page: InstanceListPage) => ({
      ...page,
      data: page.data.map((one) => (one.id === id ? { ...one, ...changed } : one)),
    });
    return { ...old, pages: old.pages.map(patch) };
  });
  // A changed status or a new instance can change which lists contain it.
  if (!isMoved && isListed) return;
  refresh.lists();
  refresh.place(state);
}

/** Fetches an instance and inserts it into the long lists. */
function createPlacing(client: QueryClient): (state: StreamedState) => void {
  const waiting = new Map<number, StreamedState>();
  const longLists = () =>
    client
      .getQueryCache()
      .findAll({ ...LISTS, type: "active", predicate: (query) => !isRefreshed(query) })
      .map(({ queryKey }) => ({ queryKey, filter: queryKey[2] as InstanceListFilter }));
  const belongs = (state: StreamedState) =>
    longLists().some(({ queryKey, filter }) => {
      const list = client.getQueryData<InfiniteData<InstanceListPage>>(queryKey);
      return list !== undefined && findPosition(list, filter, state) !== undefined;
    });
  const place = throttle(async () => {
    const ids = [...waiting.values()].filter(belongs).map(({ id }) => id);
    waiting.clear();
    for (const id of ids.slice(-MOST_PLACED)) {
      // A removed instance is ignored; a failed request is made up for by the next refetch.
      const { data: row } = await gateway.getInstance({ id }).catch(() => ({ data: undefined }));
      if (row === undefined) continue;
      for (const { queryKey, filter } of longLists())
        client.setQueryData<InfiniteData<InstanceListPage>>(
          queryKey,
          (old) => old && insertInstance(old, filter, row),
        );
    }
  });
  return (state) => {
    waiting.set(state.id, state);
    place();
  };
}

/** Runs soon after the first call, and at most once per second. */
function throttle(run: () => unknown): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    if (timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      run();
    }, REFRESH_MS);
  };
}
