import type { Pool } from "pg";
import { ConnectionRateLimiter } from "../../connection-rate-limiter.ts";
import {
  acknowledgeEntries,
  findDevicesWithWork,
  type InboxPage,
  type InboxPageRequest,
  readInboxPages,
} from "../inbox/device-inbox.ts";
import { HOST_LOCK_CLASS, HostLock } from "../pairing/host-lock.ts";
import { findScanned } from "../pairing/pair-device.ts";
import { type RequestOutcome, recordRequests } from "../requests/record-requests.ts";
import type { SandboxRequest } from "../requests/sandbox-request.ts";
import { isInvalidData } from "../requests/send-results.ts";
import type { SandboxTiming } from "../sandbox-timing.ts";
import { type WakeupBus, type WakeupListener, wakeupBusOf } from "./wakeup-bus.ts";

interface QueuedRequest<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

interface RequestBatcherOptions<Item, Result> {
  /** Runs all items in one statement; results in the order of the items. */
  run(items: Item[]): Promise<Result[]>;
  max: number;
  /** Whether an item may have caused the error, so that each item runs again separately. */
  retryOneByOne?(error: unknown): boolean;
}

const RETENTION = "30 days";

/** The network unlinks a device that was offline for this long, as WhatsApp does. */
const LINKED = "14 days";

/** The part of a pino logger that the network uses. */
export interface SandboxLog {
  warn(fields: object, message: string): void;
}

interface Terminable {
  terminate(): void;
}

/** An open socket that the runtime wakes when its inbox has entries, or when the network has closed it. */
interface ServedSocket {
  readonly me: { device: number };
  readonly session: string;
  readonly closed: Promise<unknown>;
  poll(): void;
}

const ACKNOWLEDGE_AT_ONCE = 1_000;
const CLEANUP_EVERY_MS = 3_600_000;
/** Wake-ups of one device within this time are merged. */
const WAKE_GRAIN_MS = 10;

/** One process's end of the network: its open sockets, and the statements that they share. */
export class SandboxRuntime implements WakeupListener {
  readonly pool: Pool;
  readonly timing: SandboxTiming;
  readonly log: SandboxLog | undefined;
  readonly host: HostLock;
  readonly wakeups: WakeupBus;
  readonly opening: ConnectionRateLimiter;
  readonly requests: RequestBatcher<SandboxRequest, RequestOutcome>;
  readonly pages: RequestBatcher<InboxPageRequest, InboxPage>;
  readonly #acknowledged: RequestBatcher<number[], undefined>;
  readonly #connectionLoops = new Set<Terminable>();
  readonly #connections = new Map<number, Set<ServedSocket>>();
  readonly #pairings = new Map<string, () => void>();
  readonly #dueWakes = new Set<string>();
  #stopListening: (() => void) | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #cleanedAt = performance.now();

  constructor(pool: Pool, timing: SandboxTiming, log: SandboxLog | undefined) {
    this.pool = pool;
    this.timing = timing;
    this.log = log;
    this.host = new HostLock(pool);
    this.wakeups = wakeupBusOf(pool);
    const { openAtOnce: maxConcurrent, openPerSecond: perSecond } = timing;
    this.opening = new ConnectionRateLimiter({ maxConcurrent, perSecond, jitterMs: 0, collectMs: 0 });
    this.requests = new RequestBatcher({
      run: (items) => this.#record(items),
      max: 200,
      retryOneByOne: isInvalidData,
    });
    this.pages = new RequestBatcher({ run: (requests) => readInboxPages(pool, requests), max: 100 });
    this.#acknowledged = new RequestBatcher({
      run: (entries) => this.#acknowledge(entries),
      max: ACKNOWLEDGE_AT_ONCE,
    });
  }

  /** Serves a session from its connect() until its end. */
  async register(loop: Terminable): Promise<void> {
    this.#connectionLoops.add(loop);
    this.#stopListening ??= this.wakeups.listen(this);
    this.#pollTimer ??= setTimeout(() => void this.#poll(), this.timing.pollMs);
    await this.host.acquire();
  }

  unregister(loop: Terminable): void {
    this.#connectionLoops.delete(loop);
    if (this.#connectionLoops.size > 0) return;
    clearTimeout(this.#pollTimer);
    this.#pollTimer = undefined;
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.host.release();
  }

  /** Wakes the session of a socket until the socket is closed. */
  attach(connection: ServedSocket): void {
    const { device } = connection.me;
    const ofDevice = this.#connections.get(device) ?? new Set();
    this.#connections.set(device, ofDevice.add(connection));
    void connection.closed.then(() => {
      ofDevice.delete(connection);
      if (ofDevice.size === 0 && this.#connections.get(device) === ofDevice) this.#connections.delete(device);
    });
  }

  /** Calls back after a scan of the pairing in any process; returns a function that stops the wait. */
  onScan(pairing: string, onScan: () => void): () => void {
    this.#pairings.set(pairing, onScan);
    return () => this.#pairings.delete(pairing);
  }

  /** Acknowledges entries; never rejects, false if they are still stored. */
  acknowledge(entries: number[]): Promise<boolean> {
    return this.#acknowledged.add(entries).then(
      () => true,
      (error) => {
        this.log?.warn({ err: error }, "sandbox: inbox entries could not be acknowledged");
        return false;
      },
    );
  }

  /** Drops every socket without notifying the network. */
  terminate(): void {
    for (const loop of [...this.#connectionLoops]) loop.terminate();
  }

  deviceWoken(device: number, afterMs: number): void {
    if (afterMs === 0) {
      this.#wakeDevice(device);
      return;
    }
    const slot = Math.ceil((performance.now() + afterMs) / WAKE_GRAIN_MS);
    const key = `${device} ${slot}`;
    if (this.#dueWakes.has(key)) return;
    this.#dueWakes.add(key);
    const wake = () => {
      this.#dueWakes.delete(key);
      this.#wakeDevice(device);
    };
    setTimeout(wake, slot * WAKE_GRAIN_MS - performance.now() + 2).unref();
  }

  pairingWoken(pairing: string): void {
    this.#pairings.get(pairing)?.();
  }

  #wakeDevice(device: number): void {
    for (const connection of this.#connections.get(device) ?? []) connection.poll();
  }

  async #record(requests: SandboxRequest[]): Promise<RequestOutcome[]> {
    const { outcomes, wakeups } = await recordRequests(this.pool, requests);
    for (const { device, after_ms } of wakeups) this.wakeups.device(device, after_ms);
    return outcomes;
  }

  async #acknowledge(entries: number[][]): Promise<undefined[]> {
    for (const device of await acknowledgeEntries(this.pool, entries.flat())) this.wakeups.device(device);
    return entries.map(() => undefined);
  }

  // The poll is authoritative: entries of other processes, entries that became due, and whether a socket is
  // still the open one.
  async #poll(): Promise<void> {
    const timer = this.#pollTimer;
    try {
      await this.host.acquire();
      await this.#wakeStirred();
      if (performance.now() - this.#cleanedAt > CLEANUP_EVERY_MS) {
        this.#cleanedAt = performance.now();
        await deleteOldData(this.pool);
      }
    } catch (error) {
      this.log?.warn({ err: error }, "sandbox: the network cannot be reached");
    }
    // The runtime was stopped, or stopped and restarted, in the meantime.
    if (this.#pollTimer !== timer) return;
    this.#pollTimer = setTimeout(() => void this.#poll(), this.timing.pollMs);
  }

  async #wakeStirred(): Promise<void> {
    const open = [...this.#connections.values()].flatMap((ofDevice) => [...ofDevice]);
    if (open.length > 0) {
      const served = open.map(({ me, session }) => ({ device: me.device, session }));
      for (const device of await findDevicesWithWork(this.pool, served)) this.#wakeDevice(device);
    }
    if (this.#pairings.size > 0) {
      for (const pairing of await findScanned(this.pool, [...this.#pairings.keys()])) {
        this.pairingWoken(pairing);
      }
    }
  }
}

/** Deletes expired network data. */
export async function deleteOldData(pool: Pool): Promise<void> {
  // If this lock is free, the process that held it has died and its sockets are closed.
  await pool.query(
    `update sandbox.device set unlinked_at = now(), session = null
     where unlinked_at is null and greatest(created_at, logged_in_at) < now() - interval '${LINKED}'
       and (session is null or pg_try_advisory_xact_lock_shared($1, host))`,
    [HOST_LOCK_CLASS],
  );
  await pool.query(
    "delete from sandbox.inbox m using sandbox.device d where d.id = m.device and d.unlinked_at is not null",
  );
  await pool.query("delete from sandbox.media where expires_at < now()");
  await pool.query("delete from sandbox.pairing where expires_at < now() - interval '1 hour'");
  await pool.query(`delete from sandbox.message where at < now() - interval '${RETENTION}'`);
  await pool.query(`delete from sandbox.ledger where at < now() - interval '${RETENTION}'`);
}

/** Merges requests that arrive during one statement into the next one; adds no delay. */
export class RequestBatcher<Item, Result> {
  readonly #options: RequestBatcherOptions<Item, Result>;
  #waiting: QueuedRequest<Item, Result>[] = [];
  #running = false;

  constructor(options: RequestBatcherOptions<Item, Result>) {
    this.#options = options;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#running) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#running = true;
    // Requests of the same turn of the event loop share a statement.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#run(this.#waiting.splice(0, this.#options.max));
    this.#running = false;
  }

  async #run(batch: QueuedRequest<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(batch.map((one) => one.item));
      for (const [i, one] of batch.entries()) one.resolve(results[i] as Result);
    } catch (error) {
      if (batch.length > 1 && this.#options.retryOneByOne?.(error)) {
        for (const one of batch) await this.#run([one]);
      } else {
        for (const one of batch) one.reject(error);
      }
    }
  }
}
