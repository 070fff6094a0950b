// Baileys 7.0.0-rc14 ignores stanzas whose kind it does not know; the network redelivers them and ends the stream.
// Not reported upstream; https://github.com/WhiskeySockets/Baileys/pull/2779 (open) describes the same for stories.
import { type BinaryNode, buildAckStanza, type WASocket } from "baileys";

/** Acknowledgements on their way; the network delivers again what has none. */
const MOST_PENDING = 1_000;

const LISTENED = /^CB:([^,]+)/;

/** Acknowledges each stanza that has an id and no listener; `onUnknown` receives its tag. */
export function ackUnknownStanzas({ ws, sendNode }: WASocket, onUnknown: (tag: string) => void): void {
  const known = new Set(ws.eventNames().map((name) => LISTENED.exec(String(name))?.[1]));
  let pending = 0;
  ws.on("frame", (node: BinaryNode | Uint8Array) => {
    if (node instanceof Uint8Array || known.has(node.tag)) return;
    const { id } = node.attrs;
    if (!id || ws.listenerCount(`TAG:${id}`) > 0) return;
    onUnknown(node.tag);
    if (pending >= MOST_PENDING) return;
    pending++;
    void sendNode(buildAckStanza(node, undefined, undefined))
      .catch(() => {})
      .finally(() => pending--);
  });
}
