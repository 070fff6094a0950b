import { ClosedError, ConnectTimeoutError } from "../../../platform/outgoing/classify-fetch-failure.ts";
import { startRequestDeadline } from "../../../platform/outgoing/request-deadline.ts";

/** A message for a broker, with what lets consumers verify, deduplicate and route it. */
export interface BrokerMessage {
  /** Its subject or routing key. */
  topic: string;
  /** Id of the event, the same at every attempt. */
  id: string;
  attemptId: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

export interface BrokerConnection {
  /** Resolves once the broker has stored the message; rejects with BrokerRefusal if it does not take it. */
  publish(message: BrokerMessage): Promise<void>;
  /** Whether it can take no further message. */
  isClosed(): boolean;
  close(): void;
}

/** Opens a connection, and destroys it if the signal aborts before it is open. */
type OpenBrokerConnection = (signal: AbortSignal) => Promise<BrokerConnection>;

/** The broker responded, and takes neither this message nor its repetition before something changes there. */
export class BrokerRefusal extends Error {
  override readonly name = "BrokerRefusal";
}

/** The connection ended before the broker's response; classified as closed. */
export class LostConnectionError extends Error {
  override readonly name = "LostConnectionError";
  readonly code = "ECONNRESET";
}

interface Slot {
  connection: Promise<BrokerConnection>;
  /** The connection, once it is open. */
  open?: BrokerConnection;
  opening: AbortController;
  openedAtMs: number;
  users: number;
  idleTimer?: NodeJS.Timeout;
  /** Takes no further user, and closes after its last one. */
  isRetired: boolean;
}

interface ConnectionLimits {
  /** As many as a node delivers at a time, so that a delivery always finds one. */
  most: number;
  connectMs: number;
  idleMs: number;
  /** Then a new connection resolves the name again, under the rules of that time. */
  longestMs: number;
}

const LIMITS: ConnectionLimits = { most: 256, connectMs: 5_000, idleMs: 60_000, longestMs: 10 * 60_000 };

/** The connections of this node to the brokers of one kind: one for each address with its credentials. */
export class BrokerConnections {
  readonly #slots = new Map<string, Slot>();
  readonly #limits: ConnectionLimits;

  constructor(limits: Partial<ConnectionLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Publishes through the connection of the key, opened if there is none. Gives up after `totalMs`. */
  async publish(
    key: string,
    open: OpenBrokerConnection,
    message: BrokerMessage,
    totalMs: number,
  ): Promise<void> {
    const slot = this.#lease(key, open);
    const deadline = startRequestDeadline(totalMs, undefined);
    try {
      const connection = await deadline.race(slot.connection);
      await deadline.race(connection.publish(message));
    } catch (error) {
      // What hangs or is lost serves no other delivery either.
      if (!(error instanceof BrokerRefusal)) this.#retire(key, slot);
      throw error;
    } finally {
      deadline.clear();
      this.#release(key, slot);
    }
  }

  close(): void {
    for (const [key, slot] of this.#slots) {
      this.#retire(key, slot);
      end(slot);
    }
  }

  #lease(key: string, open: OpenBrokerConnection): Slot {
    const known = this.#slots.get(key);
    const isOld = known && performance.now() - known.openedAtMs > this.#limits.longestMs;
    if (known && (isOld || known.open?.isClosed())) {
      this.#retire(key, known);
      if (known.users === 0) end(known);
    }
    const slot = this.#slots.get(key) ?? this.#add(key, open);
    // The map is in the order of use.
    this.#slots.delete(key);
    this.#slots.set(key, slot);
    clearTimeout(slot.idleTimer);
    slot.users += 1;
    return slot;
  }

  #add(key: string, open: OpenBrokerConnection): Slot {
    if (this.#slots.size >= this.#limits.most) this.#endOldestIdle();
    const opening = new AbortController();
    const timer = setTimeout(() => opening.abort(new ConnectTimeoutError()), this.#limits.connectMs);
    const aborted = new Promise<never>((_, reject) => {
      opening.signal.addEventListener("abort", () => reject(opening.signal.reason), { once: true });
    });
    const connected = open(opening.signal);
    const slot: Slot = {
      connection: Promise.race([connected, aborted]),
      opening,
      openedAtMs: performance.now(),
      users: 0,
      isRetired: false,
    };
    const finish = () => clearTimeout(timer);
    slot.connection.then(finish, () => {
      finish();
      this.#retire(key, slot);
    });
    aborted.catch(() => {});
    connected.then(
      (connection) => {
        slot.open = connection;
        if (opening.signal.aborted) connection.close();
      },
      () => {},
    );
    return slot;
  }

  /** Throws ConnectTimeoutError if every connection is in use. */
  #endOldestIdle(): void {
    const idle = [...this.#slots].find(([, { users }]) => users === 0);
    if (!idle) throw new ConnectTimeoutError();
    this.#retire(...idle);
    end(idle[1]);
  }

  #retire(key: string, slot: Slot): void {
    slot.isRetired = true;
    clearTimeout(slot.idleTimer);
    if (this.#slots.get(key) === slot) this.#slots.delete(key);
  }

  #release(key: string, slot: Slot): void {
    slot.users -= 1;
    if (slot.users > 0) return;
    if (slot.isRetired) {
      end(slot);
      return;
    }
    slot.idleTimer = setTimeout(() => {
      this.#retire(key, slot);
      end(slot);
    }, this.#limits.idleMs).unref();
  }
}

function end({ opening, open }: Slot): void {
  if (open) open.close();
  else opening.abort(new ClosedError("the connection is closed"));
}
