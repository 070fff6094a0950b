import { EventArrivals } from "../listen/event-arrivals.ts";
import type { ListenerResponse, VerifiedWebhook } from "../listen/webhook-listener.ts";
import { readField } from "../read-field.ts";

/** What a receiver has got so far, each event once; for waiting until a certain one arrives. */
export class VerifiedEvents {
  readonly arrivals = new EventArrivals();
  readonly #webhooks: VerifiedWebhook[] = [];
  readonly #watchers = new Set<() => void>();
  /** Called with each event after `onEach` is set. */
  onEach: ((webhook: VerifiedWebhook) => void) | undefined;

  readonly respond = async (webhook: VerifiedWebhook): Promise<ListenerResponse> => {
    const isFirst = this.arrivals.add(webhook.event);
    if (isFirst && readField(webhook.event, "data", "test") !== true) {
      this.#webhooks.push(webhook);
      this.onEach?.(webhook);
      for (const watch of this.#watchers) watch();
    }
    return { status: 204 };
  };

  /** How many events the filter takes so far. */
  count(filter: (event: unknown) => boolean): number {
    return this.#webhooks.filter(({ event }) => filter(event)).length;
  }

  /** The first event that the filter takes, past ones included; undefined after the time, or once aborted. */
  find(
    filter: (event: unknown) => boolean,
    { withinMs, signal }: { withinMs: number; signal: AbortSignal },
  ): Promise<VerifiedWebhook | undefined> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        this.#watchers.delete(look);
        resolve(this.#webhooks.find(({ event }) => filter(event)));
      };
      const look = (): void => {
        if (this.#webhooks.some(({ event }) => filter(event))) end();
      };
      const timer = setTimeout(end, withinMs);
      signal.addEventListener("abort", end);
      this.#watchers.add(look);
      if (signal.aborted) end();
      else look();
    });
  }
}
