// Baileys 7.0.0-rc14 looks up keys for each message before it queues it, so one message can overtake another.
// Not reported upstream; https://github.com/WhiskeySockets/Baileys/pull/2175 (closed) proposed a queue per chat.
import type { BinaryNode, WASocket } from "baileys";
import { detachListeners } from "../connection/detach-listeners.ts";
import { KeyedMutex } from "../keys/keyed-mutex.ts";

const MESSAGE = "CB:message";

/** Each message waits until the previous one of its chat was handled, also across the network's offline queue. */
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
