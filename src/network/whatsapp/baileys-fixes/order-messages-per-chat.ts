import type { BinaryNode, WASocket } from "baileys";
import { KeyedMutex } from "../keys/keyed-mutex.ts";
import { detachListeners } from "./detach-listeners.ts";

const MESSAGE = "CB:message";

/**
 * The client library takes up messages side by side and looks up keys for each before it gets in line, so that one can
 * overtake another; and those that waited in the network's queue stand in a line of their own. Here each waits until the
 * one before it in its chat has been handled.
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
