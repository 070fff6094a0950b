import { setTimeout as pause } from "node:timers/promises";
import type { NetworkEvent, OpenSessionOptions } from "../../driver.ts";

export interface EventReporterOptions {
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
  report(chat: string, event: Promise<NetworkEvent | readonly NetworkEvent[] | undefined>): Promise<void> {
    const before = this.#tails.get(chat);
    // The queued report handles the failure.
    event.catch(() => {});
    const telling = (async () => {
      await before;
      const reported = await event;
      const events = reported === undefined ? [] : [reported].flat();
      await Promise.all(events.map((one) => this.#report(one)));
    })();
    const tail = telling.catch((error) => this.#options.onFailure(error));
    this.#tails.set(chat, tail);
    void tail.then(() => {
      if (this.#tails.get(chat) === tail) this.#tails.delete(chat);
    });
    return telling;
  }

  /** Starts nothing new, and resolves when the current reports have ended. */
  async drain(): Promise<void> {
    this.#isFinishing = true;
    await Promise.all(this.#underWay);
  }

  close(): void {
    this.#stop.abort();
  }

  readonly #underWay = new Set<Promise<void>>();

  async #report(event: NetworkEvent): Promise<void> {
    while (!this.#stop.signal.aborted && !this.#isFinishing) {
      const reporting = this.#options.report(event);
      const ended = reporting.catch(() => {});
      this.#underWay.add(ended);
      void ended.then(() => this.#underWay.delete(ended));
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

  async #wait(): Promise<void> {
    await pause(this.#options.retryMs, undefined, { signal: this.#stop.signal }).catch(() => {});
  }
}
