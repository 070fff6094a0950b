import { setTimeout as pause } from "node:timers/promises";
import type { OpenSessionOptions } from "../../driver.ts";
import type { ReportableEvent } from "../inbound/message-changes.ts";

interface EventReporterOptions {
  report: OpenSessionOptions["report"];
  retryMs: number;
  onFailure(error: unknown): void;
}

/**
 * Reports the events of one connection to the gateway: chats concurrently, each in order. A failed report
 * pauses its chat and is retried after a delay. After the end of the connection nothing more is reported, and
 * pending reports stay unresolved.
 */
export class EventReporter {
  readonly #options: EventReporterOptions;
  readonly #tails = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  #isFinishing = false;

  constructor(options: EventReporterOptions) {
    this.#options = options;
  }

  /**
   * Reserves the event's place in the order of the chat; resolves once the event is stored, or if there is
   * none. Several events at once have no order among themselves.
   */
  report(
    chat: string,
    event: Promise<ReportableEvent | readonly ReportableEvent[] | undefined>,
  ): Promise<void> {
    const before = this.#tails.get(chat);
    // The queued report handles the failure.
    event.catch(() => {});
    const reporting = (async () => {
      await before;
      const reported = await event;
      const events = reported === undefined ? [] : [reported].flat();
      await Promise.all(events.map((one) => this.#report(one)));
    })();
    const tail = reporting.catch((error) => this.#options.onFailure(error));
    this.#tails.set(chat, tail);
    void tail.then(() => {
      if (this.#tails.get(chat) === tail) this.#tails.delete(chat);
    });
    return reporting;
  }

  /** Reserves a place in the order of the chat until it is released; undefined while other events of it wait. */
  reserve(chat: string): (() => void) | undefined {
    if (this.#tails.has(chat)) return undefined;
    let release = () => {};
    const released = new Promise<undefined>((resolve) => {
      release = () => resolve(undefined);
    });
    void this.report(chat, released);
    return release;
  }

  /** Starts nothing new, and resolves when the current reports have ended. */
  async drain(): Promise<void> {
    this.#isFinishing = true;
    await Promise.all(this.#running);
  }

  close(): void {
    this.#stop.abort();
  }

  readonly #running = new Set<Promise<void>>();

  async #report(event: ReportableEvent): Promise<void> {
    while (!this.#stop.signal.aborted && !this.#isFinishing) {
      const reporting = this.#readAndReport(event);
      const ended = reporting.catch(() => {});
      this.#running.add(ended);
      void ended.then(() => this.#running.delete(ended));
      try {
        await reporting;
        return;
      } catch (error) {
        this.#options.onFailure(error);
        await this.#wait();
      }
    }
    await new Promise(() => {});
  }

  async #readAndReport(event: ReportableEvent): Promise<void> {
    const read = typeof event === "function" ? await event() : event;
    if (read) await this.#options.report(read);
  }

  async #wait(): Promise<void> {
    await pause(this.#options.retryMs, undefined, { signal: this.#stop.signal }).catch(() => {});
  }
}
