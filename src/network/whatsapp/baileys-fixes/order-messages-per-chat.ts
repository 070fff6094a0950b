import type { BinaryNode, WASocket } from "baileys";
import { KeyedMutex } from "../keys/keyed-mutex.ts";
import { detachListeners } from "./detach-listeners.ts";

const MESSAGE = "CB:message";

/**
 * Baileys looks up keys for each message before it queues it, so one message can overtake another. Messages
 * from the network's offline queue also have a queue of their own. Here each message waits until the previous
 * one of its chat was handled.
 */
export function orderMessagesPerChat(
  { ws }: WASocket,
  chatOf: (stanza: Record<string, string>) => string,
): void {
  const chats = new KeyedMutex();
  const handles = detachListeners(ws, MESSAGE);
  ws.on(MESSAGE, (node: BinaryNode) => {
    const { offline: _, ...attrs } = node.attrs;
    void chats.run(chatOf(attrs), async () => {
      for (const handle of handles) await handle({ ...node, attrs });
    });
  });
}
