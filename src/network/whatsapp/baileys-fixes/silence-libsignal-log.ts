// libsignal 6.0.0 prints whole sessions with their private keys on the console.
// Upstream: https://github.com/WhiskeySockets/libsignal-node/issues/1 (open).
const LIBSIGNAL = /[\\/]node_modules[\\/]libsignal[\\/]/;
const METHODS = ["log", "info", "warn", "error"] as const;

let isQuiet = false;

/** Blocks console output of libsignal only. */
export function silenceLibsignalLog(): void {
  if (isQuiet) return;
  isQuiet = true;
  const { console } = globalThis;
  for (const method of METHODS) {
    const original = console[method];
    console[method] = (...args: unknown[]) => {
      if (!LIBSIGNAL.test(callerOf())) original.apply(console, args);
    };
  }
}

/** The stack frame that called the console: below the error itself, this function and the method. */
function callerOf(): string {
  return new Error().stack?.split("\n")[3] ?? "";
}
