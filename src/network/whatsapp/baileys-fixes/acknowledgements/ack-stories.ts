// Baileys 7.0.0-rc14 refuses stories that it cannot decrypt, and ignores those in a <status>; both freeze the queue.
// Upstream: https://github.com/WhiskeySockets/Baileys/pull/2779 (open).
import { type BinaryNode, buildAckStanza, decryptMessageNode, jidDecode, type WASocket } from "baileys";
import { detachListeners } from "../../connection/detach-listeners.ts";
import { silentBaileysLogger } from "../silent-baileys-logger.ts";

const MESSAGE = "CB:message";
const STORIES = "status@broadcast";

/** From other servers, such as `bot`, Baileys refuses every message. */
const SERVERS = ["s.whatsapp.net", "lid", "hosted", "hosted.lid", "g.us", "broadcast", "newsletter"];

/**
 * Decrypts stories for their keys only, and acknowledges each, whether or not it could be decrypted. The network would
 * redeliver a refused one first, and withhold everything behind it. `onAcknowledged` receives its
 * attributes.
 */
export function ackStories(sock: WASocket, onAcknowledged: (stanza: Record<string, string>) => void): void {
  const { ws } = sock;
  const handles = detachListeners(ws, MESSAGE);
  ws.on(MESSAGE, async (node: BinaryNode) => {
    if (!isAlwaysAcknowledged(node)) {
      for (const handle of handles) await handle(node);
      return;
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

function isAlwaysAcknowledged({ tag, attrs: { from = "" } }: BinaryNode): boolean {
  return tag === "status" || from === STORIES || !SERVERS.includes(jidDecode(from)?.server ?? "");
}

async function decrypt({ authState, signalRepository }: WASocket, node: BinaryNode): Promise<void> {
  const { id = "", lid = "" } = authState.creds.me ?? {};
  await decryptMessageNode(node, id, lid, signalRepository, silentBaileysLogger).decrypt();
}
