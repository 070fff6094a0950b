// Baileys 7.0.0-rc14 reads no settings of a new device before the offline queue ends, and the network may not report that.
// Upstream: https://github.com/WhiskeySockets/Baileys/issues/2810 (open).
import type { BinaryNode, WASocket } from "baileys";
import { isPeerMessage } from "../../stanzas/stanza.ts";

const END = "CB:ib,,offline";

/**
 * Ends the wait, and with it Baileys' first buffer of events: this long after the login, or before the phone's first
 * message to a new device, which Baileys would otherwise handle without the settings.
 */
export function releaseEventBuffer({ ws, authState: { creds } }: WASocket, afterMs: number): void {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const end = () => {
    if (!isOver && ws.isOpen) ws.emit(END, { tag: "ib", attrs: {} });
  };
  ws.once("CB:success", () => {
    timer = setTimeout(end, afterMs).unref();
  });
  ws.prependListener("CB:message", ({ attrs }: BinaryNode) => {
    if (!creds.accountSyncCounter && isPeerMessage(attrs)) end();
  });
  ws.once(END, () => {
    isOver = true;
    clearTimeout(timer);
  });
}
