import { DeadlineError } from "./classify-fetch-failure.ts";

/** The end of one request: a timeout, or an abort by the caller. */
export interface RequestDeadline {
  readonly signal: AbortSignal;
  /** Resolves with the promise, or rejects at the deadline. */
  race<T>(promise: T | Promise<T>): Promise<T>;
  clear(): void;
}

export function startRequestDeadline(totalMs: number, given: AbortSignal | undefined): RequestDeadline {
  const controller = new AbortController();
  const over = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
  });
  over.catch(() => {});
  const giveUp = (): void => controller.abort(given?.reason);
  const timer = setTimeout(() => controller.abort(new DeadlineError("the time is up")), totalMs);
  if (given?.aborted === true) {
    giveUp();
  }
  given?.addEventListener("abort", giveUp, { once: true });
  return {
    signal: controller.signal,
    // undici handles a signal only once it has a socket, so waiting for a socket needs a race.
    race: (promise) => Promise.race([promise, over]),
    clear() {
      clearTimeout(timer);
      given?.removeEventListener("abort", giveUp);
    },
  };
}
