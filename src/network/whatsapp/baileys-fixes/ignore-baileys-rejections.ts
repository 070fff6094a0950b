// Baileys 7.0.0-rc14 starts promises that nothing awaits; most fail with their connection, and would end the process.
// Upstream: https://github.com/WhiskeySockets/Baileys/issues/1361 (closed, fixed in part).
import { ConnectionClosedError } from "../stanzas/connection-closed-error.ts";

/** Of the installed packages, and of Baileys in the bundle of the program. */
export const BAILEYS_PATH =
  /[\\/](?:node_modules[\\/](?:baileys|libsignal)[\\/]|program[\\/]bundled-baileys-)/;

let isGuarding = false;

/** Reports the rejections of Baileys; all other unhandled rejections still end the process. */
export function ignoreBaileysRejections(onFailure: (error: unknown) => void): void {
  if (isGuarding) return;
  isGuarding = true;
  process.on("unhandledRejection", (reason) => {
    if (!isFromBaileys(reason)) throw reason;
    onFailure(reason);
  });
}

function isFromBaileys(reason: unknown): boolean {
  return (
    reason instanceof ConnectionClosedError ||
    (reason instanceof Error && BAILEYS_PATH.test(reason.stack ?? ""))
  );
}
