/** The connection is over, and with it everything that was under way in it. */
export class ConnectionClosedError extends Error {
  constructor() {
    super("The connection is over.");
  }
}

const LIBRARY = /[\\/]node_modules[\\/](baileys|libsignal)[\\/]/;

let isGuarding = false;

/**
 * The client library starts works that nobody waits for; when one of them fails, mostly because its connection is over,
 * the process would end. Failures of anybody else still end it.
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
