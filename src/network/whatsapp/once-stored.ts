import type { BinaryNode, WASocket } from "baileys";

const RECEIPT = "CB:receipt";

type Handle = (node: BinaryNode) => unknown;

/**
 * The client library acknowledges every receipt, whatever becomes of it here, and the network does not bring it again.
 * So it gets each only once `store` says that the network may forget it. What asks for a message again tells nothing.
 */
export function handleOnceStored({ ws }: WASocket, store: (receipt: BinaryNode) => Promise<boolean>): void {
  const handles = ws.listeners(RECEIPT) as Handle[];
  ws.removeAllListeners(RECEIPT);
  ws.on(RECEIPT, async (node: BinaryNode) => {
    const mayForget = node.attrs.type === "retry" || (await store(node));
    if (mayForget) for (const handle of handles) handle(node);
  });
}
