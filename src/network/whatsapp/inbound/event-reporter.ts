import { setTimeout as pause } from "node:timers/promises";
import type { NetworkEvent, OpenSessionOptions } from "../../driver.ts";

export interface EventReporterOptions {
  report: OpenSessionOptions["report"];
  retryMs: number;
  onFailure(error: unknown): void;
}

/**
 * Tells the gateway what one connection hears: each chat in order, several side by side. What cannot be stored is told
 * again after a while and holds up its chat; after the end of the connection nothing more is told, nor settled.
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
   * In its place in the order of the chat from now on; resolves once the event is stored, or when there is none. Several
   * events at once have no order among themselves.
   */
  tell(chat: string, event: Promise<NetworkEvent | readonly NetworkEvent[] | undefined>): Promise<void> {
    const before = this.#tails.get(chat);
    // Its failure is looked at in its turn.
    event.catch(() => {});
    const telling = (async () => {
      await before;
      const told = await event;
      const events = told === undefined ? [] : [told].flat();
      await Promise.all(events.map((one) => this.#report(one)));
    })();
    const tail = telling.catch((error) => this.#options.onFailure(error));
    this.#tails.set(chat, tail);
    void tail.then(() => {
      if (this.#tails.get(chat) === tail) this.#tails.delete(chat);
    });
    return telling;
  }

  /** Begins nothing new, and resolves when what is under way has ended. */
  async finish(): Promise<void> {
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
