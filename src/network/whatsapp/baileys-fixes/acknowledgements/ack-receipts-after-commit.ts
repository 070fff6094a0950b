// Baileys 7.0.0-rc14 acknowledges every receipt even if its handler fails, and the network never redelivers it.
// Not reported upstream; https://github.com/WhiskeySockets/Baileys/pull/1043 did the same to messages.
import type { BinaryNode, WASocket } from "baileys";
import { detachListeners } from "../../stanzas/detach-listeners.ts";

const RECEIPT = "CB:receipt";

/** Passes a receipt to Baileys only after `store` resolves with true; retry requests carry no status. */
export function ackReceiptsAfterCommit(
  { ws }: WASocket,
  store: (receipt: BinaryNode) => Promise<boolean>,
): void {
  const handles = detachListeners(ws, RECEIPT);
  ws.on(RECEIPT, async (node: BinaryNode) => {
    const isStored = node.attrs.type === "retry" || (await store(node));
    if (isStored) for (const handle of handles) handle(node);
  });
}
