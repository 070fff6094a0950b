const KEPT_MS = 2000;
const WITHIN_MS = 1000;

/** The last result of a check; undefined if it failed or timed out. */
export type HealthCheck<T> = () => Promise<T | undefined>;

/** Caches each result for two seconds and waits at most one second, so that probes cause no load. */
export function createHealthCheck<T>(
  ask: () => Promise<T>,
  now: () => number = () => performance.now(),
): HealthCheck<T> {
  let running: Promise<T | undefined> | undefined;
  let last: { at: number; answer: Promise<T | undefined> } | undefined;
  return () => {
    if (last && now() - last.at < KEPT_MS) return last.answer;
    running ??= settle(ask).finally(() => {
      running = undefined;
    });
    const answer = within(running);
    last = { at: now(), answer };
    return answer;
  };
}

async function settle<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch {
    return undefined;
  }
}

function within<T>(running: Promise<T | undefined>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, WITHIN_MS, undefined);
    void running.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
