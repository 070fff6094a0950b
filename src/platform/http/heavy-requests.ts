import { GatewayError } from "../gateway-error.ts";
import { Semaphore, type Slot } from "../limits/semaphore.ts";

/** Of all accounts; the other connections for requests stay free. */
const MOST = 4;
const MOST_PER_ACCOUNT = 2;
const MOST_WAITING_PER_ACCOUNT = 20;

/** Lets few requests of routes that are `heavy` work at once; the account with the fewest of them goes first. */
export class HeavyRequests {
  readonly #slots = new Semaphore({ limit: MOST, limitPerKey: MOST_PER_ACCOUNT });

  /** Throws RATE_LIMITED if too many of the account wait. Rejects if the signal aborts during the wait. */
  async begin(account_id: number | undefined, signal: AbortSignal): Promise<Slot> {
    if (this.#slots.countWaiting(account_id) >= MOST_WAITING_PER_ACCOUNT)
      throw new GatewayError(
        "RATE_LIMITED",
        `${MOST_WAITING_PER_ACCOUNT} large requests of this account wait already. Send fewer of them at once: ${MOST_PER_ACCOUNT} run at the same time.`,
        { retryAfterSeconds: 5 },
      );
    try {
      return await this.#slots.acquire({ key: account_id, signal });
    } catch (cause) {
      throw new GatewayError("UNAVAILABLE", "The client has left, so the request was given up.", { cause });
    }
  }
}
