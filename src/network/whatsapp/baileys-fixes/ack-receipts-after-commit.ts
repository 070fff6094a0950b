import type { BinaryNode, WASocket } from "baileys";
import { detachListeners } from "./detach-listeners.ts";

const RECEIPT = "CB:receipt";

/**
 * The client library acknowledges every receipt, whatever becomes of it here, and the network does not bring it again.
 * So it gets each only once `store` says that the network may forget it. What asks for a message again tells nothing.
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
