// Baileys 7.0.0-rc14 does not catch the failures of its own listeners, which would end the process.
// Not reported upstream.
import type { WASocket } from "baileys";
import { detachListeners } from "../stanzas/detach-listeners.ts";

/** Ignores the failures of Baileys' listeners, except for frames: `onMalformed` receives those. */
export function catchListenerFailures({ ws }: WASocket, onMalformed: (error: unknown) => void): void {
  for (const name of ws.eventNames()) {
    const onFailure = name === "message" ? onMalformed : () => {};
    for (const handle of detachListeners(ws, name)) {
      ws.on(name, (...args: unknown[]) => (async () => handle(...args))().catch(onFailure));
    }
  }
}
