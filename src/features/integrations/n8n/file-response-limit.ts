import { Semaphore } from "../../../platform/limits/semaphore.ts";

const AT_ONCE = 16;

/** Limits concurrent reads of files in responses, which are held in memory until they are stored. */
export class FileResponseLimit {
  static readonly largestBytes = 5 * 1024 * 1024;
  readonly #semaphore = new Semaphore(AT_ONCE);

  /** `acquireSlot` resolves as soon as a file may be read; its slot is held until the work ends. */
  async use<T>(work: (acquireSlot: () => Promise<void>) => Promise<T>): Promise<T> {
    const { promise: ended, resolve: end } = newPromise();
    const acquireSlot = () => {
      const { promise: acquired, resolve: acquire } = newPromise();
      void this.#semaphore.use(1, () => {
        acquire();
        return ended;
      });
      return acquired;
    };
    try {
      return await work(acquireSlot);
    } finally {
      end();
    }
  }
}

function newPromise(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}
