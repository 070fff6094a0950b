import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { createKey } from "../../gateway/gateway.ts";
import { putChat } from "./conversation-cache.ts";
import { type Message, readChat, threadKey } from "./conversation-queries.ts";
import type { Outgoing } from "./kinds/message-kind.ts";
import { reloadMessage } from "./use-live-conversations.ts";

/** A message that the gateway has not accepted yet. */
export interface Waiting extends Outgoing {
  /** Idempotency key and `track_id`, so a retry after a lost response sends nothing twice. */
  key: string;
  instanceId: number;
  jid: string;
  replyTo: Message | undefined;
  state: "sending" | "refused";
  error?: unknown;
}

let waiting: readonly Waiting[] = [];
const listeners = new Set<() => void>();

function set(next: readonly Waiting[]): void {
  waiting = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The unsent messages of a chat. They stay when another chat is opened. */
export function useOutbox(instanceId: number, jid: string) {
  const client = useQueryClient();
  const all = useSyncExternalStore(subscribe, () => waiting);
  return {
    entries: all.filter((one) => one.instanceId === instanceId && one.jid === jid),
    add(message: Outgoing, replyTo?: Message): void {
      void post(client, { ...message, key: createKey(), instanceId, jid, replyTo, state: "sending" });
    },
    retry: (entry: Waiting) => void post(client, entry),
    discard: ({ key }: Waiting) => set(waiting.filter((one) => one.key !== key)),
  };
}

/** Drops entries that were accepted although their response was lost or late. */
export function dropAccepted(entries: readonly Waiting[], messages: readonly Message[]): void {
  const refused = new Set(entries.filter(({ state }) => state === "refused").map(({ key }) => key));
  if (refused.size === 0) return;
  const accepted = new Set(
    messages.flatMap(({ track_id }) => track_id ?? []).filter((key) => refused.has(key)),
  );
  if (accepted.size > 0) set(waiting.filter(({ key }) => !accepted.has(key)));
}

/** Serializes the requests of each chat to keep the order. */
const turns = new Map<string, Promise<unknown>>();

async function post(client: QueryClient, entry: Waiting): Promise<void> {
  const { key, instanceId, jid } = entry;
  const sending: Waiting = { ...entry, state: "sending", error: undefined };
  set(
    waiting.some((one) => one.key === key)
      ? waiting.map((one) => (one.key === key ? sending : one))
      : [...waiting, sending],
  );
  const chat = `${instanceId} ${jid}`;
  const turn = (turns.get(chat) ?? Promise.resolve()).then(() => run(client, sending));
  turns.set(chat, turn);
  await turn;
  if (turns.get(chat) === turn) turns.delete(chat);
}

async function run(client: QueryClient, entry: Waiting): Promise<void> {
  const { key, instanceId: id, jid, replyTo, post: request } = entry;
  const target = {
    id,
    jid,
    async: true,
    track_id: key,
    ...(replyTo && { reply_to: replyTo.message_id }),
  } as const;
  try {
    const { data } = await request(target, { idempotencyKey: key });
    await showAccepted(client, entry, data as { pendingMessageId?: string; message_id?: string });
    set(waiting.filter((one) => one.key !== key));
  } catch (error) {
    set(waiting.map((one) => (one.key === key ? { ...one, state: "refused", error } : one)));
  }
}

/** Never throws: an accepted message is not a failed one, even if it cannot be read back. */
async function showAccepted(
  client: QueryClient,
  { instanceId: id, jid }: Waiting,
  { pendingMessageId, message_id }: { pendingMessageId?: string; message_id?: string },
): Promise<void> {
  await reloadMessage(client, id, pendingMessageId ?? message_id).catch(() =>
    client.invalidateQueries({ queryKey: threadKey(id, jid) }),
  );
  const chat = await readChat(id, jid).catch(() => null);
  if (chat) putChat(client, id, chat);
}
