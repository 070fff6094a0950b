import type { BinaryNode, WASocket } from "baileys";
import { detachListeners } from "./detach-listeners.ts";

const RECEIPT = "CB:receipt";

/**
 * Baileys acknowledges every receipt even if its handler fails, and the network never redelivers it. So
 * Baileys gets a receipt only after `store` resolves with true. Retry requests carry no status and pass
 * directly.
 */
export function ackReceiptsAfterCommit(
  { ws }: WASocket,
  store: (receipt: BinaryNode) => Promise<boolean>,
): void {
  const handles = detachListeners(ws, RECEIPT);
  ws.on(RECEIPT, async (node: BinaryNode) => {
    const mayForget = node.attrs.type === "retry" || (await store(node));
    if (mayForget) for (const handle of handles) handle(node);
  });
}
