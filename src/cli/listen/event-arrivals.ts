import { readField } from "../read-field.ts";

/** More ids than a webhook has attempts under way. */
const MAX_KNOWN = 10_000;

/** Which events have arrived; a replay and a test of the webhook wait for theirs. */
export class EventArrivals {
  readonly #known = new Set<string>();
  readonly #waiting = new Map<string, () => void>();

  /** Returns whether the event arrives for the first time. */
  add(event: unknown): boolean {
    const id = readField(event, "event_id");
    if (typeof id !== "string") return true;
    this.#waiting.get(id)?.();
    if (this.#known.has(id)) return false;
    const [oldest] = this.#known;
    if (oldest !== undefined && this.#known.size >= MAX_KNOWN) this.#known.delete(oldest);
    this.#known.add(id);
    return true;
  }

  has(id: string): boolean {
    return this.#known.has(id);
  }

  /** Whether the event arrives, also once more, within this time. */
  next(id: string, withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (hasArrived: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(hasArrived);
      };
      const timer = setTimeout(() => end(false), withinMs);
      this.#waiting.set(id, () => end(true));
    });
  }
}
