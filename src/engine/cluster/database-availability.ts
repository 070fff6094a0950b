import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { isDatabaseUnavailable } from "../../platform/db/database.ts";
import type { Log } from "../../platform/log/log.ts";

const SHORTEST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;

/**
 * Tracks database availability for one user of the database: logs each change once and sets the retry delay.
 */
export class DatabaseAvailability {
  readonly #log: Log;
  readonly #user: string;
  #unavailableSince: number | undefined;

  constructor(log: Log, user: string) {
    this.#log = log;
    this.#user = user;
  }

  /** Records a failure; resolves when it is time to retry. */
  async recordFailureAndWait(error: unknown): Promise<void> {
    this.recordFailure(error);
    const unavailableMs = performance.now() - (this.#unavailableSince ?? Number.NEGATIVE_INFINITY);
    await sleep(Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, unavailableMs / 2)));
  }

  /** Records a failure. Logs every error except an unavailable database. */
  recordFailure(error: unknown): void {
    if (!isDatabaseUnavailable(error)) {
      this.#log.error({ err: error, name: this.#user }, "a statement of the engine failed");
    } else if (this.#unavailableSince === undefined) {
      this.#unavailableSince = performance.now();
      this.#log.warn({ err: error, name: this.#user }, "the database is unavailable");
    }
  }

  /** Records that the database is available. */
  recordSuccess(): void {
    if (this.#unavailableSince === undefined) return;
    const duration_ms = Math.round(performance.now() - this.#unavailableSince);
    this.#unavailableSince = undefined;
    this.#log.info({ name: this.#user, duration_ms }, "the database is available again");
  }
}
