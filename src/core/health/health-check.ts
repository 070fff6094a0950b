const CACHE_MS = 2000;
const TIMEOUT_MS = 1000;

/** The last result of a check; undefined if it failed or timed out. */
export type HealthCheck<T> = () => Promise<T | undefined>;

/** Caches each result for two seconds and waits at most one second, so that probes cause no load. */
export function createHealthCheck<T>(
  check: () => Promise<T>,
  now: () => number = () => performance.now(),
): HealthCheck<T> {
  let running: Promise<T | undefined> | undefined;
  let last: { at: number; result: Promise<T | undefined> } | undefined;
  return () => {
    if (last && now() - last.at < CACHE_MS) return last.result;
    running ??= orUndefined(check).finally(() => {
      running = undefined;
    });
    const result = within(running);
    last = { at: now(), result };
    return result;
  };
}

async function orUndefined<T>(check: () => Promise<T>): Promise<T | undefined> {
  try {
    return await check();
  } catch {
    return undefined;
  }
}

function within<T>(running: Promise<T | undefined>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, TIMEOUT_MS, undefined);
    void running.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
