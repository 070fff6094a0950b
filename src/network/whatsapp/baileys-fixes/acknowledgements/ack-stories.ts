// Baileys 7.0.0-rc14 refuses stories that it cannot decrypt, and ignores those in a <status>; both freeze the queue.
// Upstream: https://github.com/WhiskeySockets/Baileys/pull/2779 (open).
import {
  type BinaryNode,
  buildAckStanza,
  decodeMessageNode,
  decryptMessageNode,
  getBinaryNodeChild,
  type WASocket,
} from "baileys";
import { detachListeners } from "../../stanzas/detach-listeners.ts";
import { STORIES } from "../../stanzas/stanza.ts";
import { silentBaileysLogger } from "../silent-baileys-logger.ts";

const MESSAGE = "CB:message";

/** A bot's message, which Baileys refuses. */
const OF_BOT = "msmsg";

/**
 * Decrypts stories for their keys only, and acknowledges each, whether or not it could be decrypted. The network would
 * redeliver a refused one first, and withhold everything behind it. `onAcknowledged` receives its
 * attributes. Does the same with messages that Baileys cannot handle, whose tag `onUnhandled` receives.
 */
export function ackStories(
  sock: WASocket,
  onAcknowledged: (stanza: Record<string, string>) => void,
  onUnhandled: (tag: string) => void,
): void {
  const { ws } = sock;
  const handles = detachListeners(ws, MESSAGE);
  ws.on(MESSAGE, async (node: BinaryNode) => {
    if (!isStory(node)) {
      if (isHandled(sock, node)) {
        for (const handle of handles) await handle(node);
        return;
      }
      onUnhandled(node.tag);
    }
    await decrypt(sock, node).catch(() => {});
    const ack = buildAckStanza(node, undefined, undefined);
    const from = sock.authState.creds.me?.id ?? "";
    // On a closed connection, the network delivers it again.
    await sock
      .sendNode({ ...ack, attrs: { ...ack.attrs, from } })
      .then(() => onAcknowledged(node.attrs))
      .catch(() => {});
  });
  ws.on("CB:status", (node: BinaryNode) => ws.emit(MESSAGE, node));
}

function isStory({ tag, attrs: { from } }: BinaryNode): boolean {
  return tag === "status" || from === STORIES;
}

/** Baileys never acknowledges a message whose addresses it cannot read, such as a bot's. */
function isHandled({ authState }: WASocket, node: BinaryNode): boolean {
  const { id = "", lid = "" } = authState.creds.me ?? {};
  if (getBinaryNodeChild(node, "enc")?.attrs.type === OF_BOT) return false;
  try {
    decodeMessageNode(node, id, lid);
    return true;
  } catch {
    return false;
  }
}

async function decrypt({ authState, signalRepository }: WASocket, node: BinaryNode): Promise<void> {
  const { id = "", lid = "" } = authState.creds.me ?? {};
  await decryptMessageNode(node, id, lid, signalRepository, silentBaileysLogger).decrypt();
}
