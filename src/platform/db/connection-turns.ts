import { availableParallelism } from "node:os";

/** More at once do not make PostgreSQL faster, and each holds its own plans and caches. */
const FEW = Math.max(4, 2 * availableParallelism());
/** Longer than most statements take. */
const PATIENCE_MS = 5;

/** Work that takes longer delays nothing else: an export keeps its connection for minutes. */
const QUICK_MS = 100;

/** The use of a connection. */
export interface Turn {
  /** By the clock of `performance`. */
  readonly since: number;
}

/**
 * Lets work wait a moment for one of the few connections that have been used last, before it takes another one. A slow
 * statement therefore delays the others by a moment at most, and only while it is new.
 */
export class ConnectionTurns {
  readonly #few: number;
  readonly #waiting = new Set<() => void>();
  /** The oldest first. */
  readonly #turns = new Set<Turn>();

  constructor(few = FEW) {
    this.#few = few;
  }

  async begin(): Promise<Turn> {
    if (!this.#isOneFree()) await this.#wait();
    const turn = { since: performance.now() };
    this.#turns.add(turn);
    return turn;
  }

  end(turn: Turn): void {
    this.#turns.delete(turn);
    const [next] = this.#waiting;
    if (this.#isOneFree()) next?.();
  }

  #isOneFree(): boolean {
    const since = performance.now() - QUICK_MS;
    let slow = 0;
    for (const turn of this.#turns) {
      if (turn.since > since) break;
      slow += 1;
    }
    return this.#turns.size - slow < this.#few;
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      const goOn = () => {
        clearTimeout(timer);
        this.#waiting.delete(goOn);
        resolve();
      };
      // After a busy time timers run first: results that have arrived meanwhile get their turn before this gives up.
      const timer = setTimeout(() => setImmediate(goOn), PATIENCE_MS);
      this.#waiting.add(goOn);
    });
  }
}
