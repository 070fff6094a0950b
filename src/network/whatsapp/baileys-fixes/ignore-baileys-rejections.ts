/** The connection has ended, and with it all its pending work. */
export class ConnectionClosedError extends Error {
  constructor() {
    super("The connection is over.");
  }
}

const LIBRARY = /[\\/]node_modules[\\/](baileys|libsignal)[\\/]/;

let isGuarding = false;

/**
 * Baileys starts promises that nothing awaits; most fail because their connection has ended, and would end
 * the process. Other unhandled rejections still end it.
 */
export function ignoreBaileysRejections(onFailure: (error: unknown) => void): void {
  if (isGuarding) return;
  isGuarding = true;
  process.on("unhandledRejection", (reason) => {
    if (!isOfLibrary(reason)) throw reason;
    onFailure(reason);
  });
}

function isOfLibrary(reason: unknown): boolean {
  return (
    reason instanceof ConnectionClosedError || (reason instanceof Error && LIBRARY.test(reason.stack ?? ""))
  );
}
