/** Longest time that one piece of work keeps the event loop to itself, in milliseconds. */
const LONGEST_MS = 10;

/** Calls back once what has arrived meanwhile had its turn; a browser has timers only. */
const afterOthers: (resume: () => void) => unknown =
  typeof setImmediate === "function" ? setImmediate : setTimeout;

/**
 * For loops whose length a request decides: await the returned function in each round. Once the work has run for 10 ms,
 * it lets other work run first.
 */
export function createPause(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < LONGEST_MS) return undefined;
    return new Promise((resolve) => {
      afterOthers(() => {
        since = performance.now();
        resolve();
      });
    });
  };
}
