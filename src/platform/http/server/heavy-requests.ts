import { finished, Readable } from "node:stream";
import { GatewayError } from "../../gateway-error.ts";
import { Semaphore, type Slot } from "../../limits/semaphore.ts";

/** Of all accounts; the other connections for requests stay free. */
const MOST_AT_WORK = 4;
const MOST_PER_ACCOUNT = 2;
const MOST_WAITING_PER_ACCOUNT = 20;

/** A request to a route that is `heavy`. */
export interface HeavyRequest {
  /** Ends it, unless its response is streamed in turns. */
  end(): void;
  /** The pieces of the response, each made in a turn of its own. The request ends with the stream. */
  streamInTurns(body: Readable): Readable;
}

/**
 * Lets few requests of routes that are `heavy` work at once; the account with the fewest of them goes first. A stream
 * takes a turn for each piece, so that a client that does not read holds up no other account.
 */
export class HeavyRequests {
  readonly #places = new Semaphore({ limitPerKey: MOST_PER_ACCOUNT });
  readonly #turns = new Semaphore({ limit: MOST_AT_WORK });

  /** Throws RATE_LIMITED if too many of the account wait. Rejects if the signal aborts during the wait. */
  async begin(account_id: number | undefined, signal: AbortSignal): Promise<HeavyRequest> {
    if (this.#places.countWaiting(account_id) >= MOST_WAITING_PER_ACCOUNT)
      throw new GatewayError(
        "RATE_LIMITED",
        `${MOST_WAITING_PER_ACCOUNT} large requests of this account wait already. Send fewer of them at once: ${MOST_PER_ACCOUNT} run at the same time.`,
        { retryAfterSeconds: 5 },
      );
    const place = await acquire(this.#places, account_id, signal);
    const takeTurn = () => acquire(this.#turns, account_id, signal);
    const turn = await takeTurn().catch((error: unknown) => {
      place.release();
      throw error;
    });
    let isStreamed = false;
    return {
      end() {
        turn.release();
        if (!isStreamed) place.release();
      },
      streamInTurns(body) {
        isStreamed = true;
        const stream = Readable.from(inTurns(body, takeTurn));
        finished(stream, () => {
          place.release();
          body.destroy();
        });
        return stream;
      },
    };
  }
}

async function* inTurns(body: Readable, takeTurn: () => Promise<Slot>): AsyncGenerator<unknown> {
  const pieces = body[Symbol.asyncIterator]();
  for (;;) {
    const turn = await takeTurn();
    const piece = await pieces.next().finally(() => turn.release());
    if (piece.done) return;
    yield piece.value;
  }
}

async function acquire(slots: Semaphore, key: unknown, signal: AbortSignal): Promise<Slot> {
  try {
    return await slots.acquire({ key, signal });
  } catch (cause) {
    throw new GatewayError("UNAVAILABLE", "The client has left, so the request was given up.", { cause });
  }
}
