import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { gateway } from "../../api/gateway.ts";
import { putMessage } from "./conversation-cache.ts";
import type { Chat, Message } from "./conversation-queries.ts";
import { readAlong } from "./read-along.ts";

const POLL_MS = 2_500;
const WATCHED = 20;
/** A phone that was off this long rarely tells more. */
const WATCHED_MS = 15 * 60_000;

/**
 * Asks for what the live stream does not tell: that a message has reached the phone, and that a file is
 * stored. Only while something of the kind is expected.
 */
export function useTail({ instance_id: id, jid }: Chat, until: string, messages: readonly Message[]): void {
  const client = useQueryClient();
  const isOpen = until === "" && messages.slice(-WATCHED).some(isUnderWay);
  const { data, dataUpdatedAt } = useQuery({
    queryKey: ["conversations", id, "tail", jid],
    queryFn: async ({ signal }) => {
      const read = () => gateway.listChatMessages({ id, jid, limit: WATCHED }, { signal });
      const { found, isOutdated } = await readAlong(read);
      return found.data.filter((message) => !isOutdated(message));
    },
    enabled: isOpen,
    refetchInterval: POLL_MS,
    staleTime: 0,
    gcTime: 0,
  });
  // Also when it is the same as before: what is shown may have changed meanwhile.
  useEffect(() => {
    if (dataUpdatedAt > 0) for (const message of data ?? []) putMessage(client, id, message);
  }, [client, id, data, dataUpdatedAt]);
}

function isUnderWay({ from_me, status, media, timestamp }: Message): boolean {
  if (Date.now() - Date.parse(timestamp) > WATCHED_MS) return false;
  return media?.status === "pending" || (from_me && (status === "pending" || status === "sent"));
}
