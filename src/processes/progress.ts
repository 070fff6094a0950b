const EVERY_MS = 3_000;

/** How far a command is; what takes less than a few seconds says nothing. */
export interface Progress {
  /** So many more are done. */
  add(count: number, words: string): void;
  /** So many are done in all. */
  reach(count: number, words: string): void;
}

/** Tells on standard error, which leaves standard output to the result. */
export function startProgress(tell: (line: string) => void = console.error): Progress {
  let done = 0;
  let nextAt = performance.now() + EVERY_MS;
  const reach = (count: number, words: string): void => {
    done = count;
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + EVERY_MS;
    tell(`... ${done} ${words}`);
  };
  return { add: (count, words) => reach(done + count, words), reach };
}
