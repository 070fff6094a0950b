// Baileys 7.0.0-rc14 looks up keys for each message before it queues it, so one message can overtake another.
// Not reported upstream; https://github.com/WhiskeySockets/Baileys/pull/2175 (closed) proposed a queue per chat.
import type { BinaryNode, WASocket } from "baileys";
import { detachListeners } from "../stanzas/detach-listeners.ts";
import { MessageOrder } from "../stanzas/message-order.ts";
import { authorKeyOf, isPeerMessage } from "../stanzas/stanza.ts";

const MESSAGE = "CB:message";

/**
 * Each message waits until the previous one of its chat was handled, also across the network's offline queue.
 * Peer messages change the state of the whole account, so they are handled alone, each within `handlePeer`.
 */
export function orderMessagesPerChat(
  { ws }: WASocket,
  chatOf: (stanza: Record<string, string>) => string,
  handlePeer: (handle: () => Promise<void>) => Promise<void> = (handle) => handle(),
): MessageOrder {
  const order = new MessageOrder();
  const handles = detachListeners(ws, MESSAGE);
  ws.on(MESSAGE, (node: BinaryNode) => {
    const { offline: _, ...attrs } = node.attrs;
    const handle = async () => {
      for (const one of handles) await one({ ...node, attrs });
    };
    if (isPeerMessage(attrs)) order.runAlone(() => handlePeer(handle));
    else order.run(chatOf(attrs), authorKeyOf(attrs), handle);
  });
  return order;
}
