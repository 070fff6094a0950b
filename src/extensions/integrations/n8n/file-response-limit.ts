import { Semaphore, type Slot } from "../../../platform/limits/semaphore.ts";

const AT_ONCE = 16;

/** Limits concurrent reads of files in responses, which are held in memory until they are stored. */
export class FileResponseLimit {
  static readonly largestBytes = 5 * 1024 * 1024;
  readonly #semaphore = new Semaphore({ limit: AT_ONCE });

  /** `acquireSlot` resolves as soon as a file may be read; its slot is held until the work ends. */
  async use<T>(work: (acquireSlot: () => Promise<void>) => Promise<T>): Promise<T> {
    const slots: Promise<Slot>[] = [];
    const acquireSlot = async () => {
      const slot = this.#semaphore.acquire();
      slots.push(slot);
      await slot;
    };
    try {
      return await work(acquireSlot);
    } finally {
      for (const slot of slots) void slot.then(({ release }) => release());
    }
  }
}
