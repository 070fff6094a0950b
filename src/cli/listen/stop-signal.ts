/** Ends a command that runs until its user stops it. */
export interface StopSignal {
  readonly signal: AbortSignal;
  /** Resolves with the first reason to stop. */
  readonly stopped: Promise<void>;
  /** Gives the signals back to the process. */
  release(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** A Ctrl-C arrives twice when a parent such as npm passes it on. */
const SAME_SIGNAL_MS = 200;
const INTERRUPTED = 130;

/** Stops at Ctrl-C and SIGTERM, and when nobody reads the output any more. A second Ctrl-C exits at once. */
export function createStopSignal(): StopSignal {
  const controller = new AbortController();
  let stoppedAt: number | undefined;
  const onSignal = (): void => {
    if (stoppedAt !== undefined && performance.now() - stoppedAt > SAME_SIGNAL_MS) process.exit(INTERRUPTED);
    stoppedAt ??= performance.now();
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  // A pipe without a reader, as in `waygate listen | head -1`.
  process.stdout.on("error", () => controller.abort());
  process.stderr.on("error", () => {});
  return {
    signal: controller.signal,
    stopped: new Promise((resolve) => controller.signal.addEventListener("abort", () => resolve())),
    release() {
      for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
}
