import { DeadlineError } from "./classify-fetch-failure.ts";

/** The end of one call: its time is up, or its caller gives it up. */
export interface RequestDeadline {
  readonly signal: AbortSignal;
  /** The promise's value, or a rejection as soon as the end has come. */
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
    // undici hears of a signal only once a socket is there, so waiting for one needs a race.
    race: (promise) => Promise.race([promise, over]),
    clear() {
      clearTimeout(timer);
      given?.removeEventListener("abort", giveUp);
    },
  };
}
