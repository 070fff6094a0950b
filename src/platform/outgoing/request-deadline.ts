import { DeadlineError } from "./classify-fetch-failure.ts";

/** The end of one request: a timeout, or an abort by the caller. */
export interface RequestDeadline {
  readonly signal: AbortSignal;
  /** Resolves with the promise, or rejects at the deadline. */
  race<T>(promise: T | Promise<T>): Promise<T>;
  clear(): void;
}

export function startRequestDeadline(totalMs: number, signal: AbortSignal | undefined): RequestDeadline {
  const controller = new AbortController();
  const over = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
  });
  over.catch(() => {});
  const giveUp = (): void => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(new DeadlineError("the time is up")), totalMs);
  if (signal?.aborted === true) {
    giveUp();
  }
  signal?.addEventListener("abort", giveUp, { once: true });
  return {
    signal: controller.signal,
    // undici handles a signal only once it has a socket, so waiting for a socket needs a race.
    race: (promise) => Promise.race([promise, over]),
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
    },
  };
}
