import type { Log } from "../platform/log/log.ts";

export const NOTIFY_CHANNEL = "waygate";
/** The key of a notification that means: check everything. */
export const ALL_KEYS = "*";

const COALESCE_MS = 10;
/** PostgreSQL rejects payloads of 8,000 bytes or more. */
const PAYLOAD_LIMIT = 7_999;

export interface NotificationBusOptions {
  /** Distinguishes the notifications of this node from those of other nodes. */
  from: string;
  /** Sends one payload to all nodes; a failure loses it. */
  send(payload: string): Promise<void>;
  /** Whether there are other nodes to notify. */
  hasOtherNodes(): boolean;
  log: Log;
}

type Subscriber = (key: string, detail?: unknown) => void;

/** Notifications between nodes: coalesced, sent after the commit, and never relied upon. */
export class NotificationBus {
  readonly #options: NotificationBusOptions;
  readonly #listeners = new Map<string, Set<Subscriber>>();
  #waiting = new Map<string, Set<string>>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;

  constructor(options: NotificationBusOptions) {
    this.#options = options;
  }

  /**
   * Notifies local subscribers at once, and other nodes within 10 ms unless the previous send is still
   * running.
   */
  publish(topic: string, key: string, detail?: unknown): void {
    this.#notify(topic, key, detail);
    this.publishToOtherNodes(topic, key);
  }

  publishToOtherNodes(topic: string, key: string): void {
    const keys = this.#waiting.get(topic) ?? new Set();
    this.#waiting.set(topic, keys.add(key));
    this.#flushSoon();
  }

  subscribe(topic: string, listener: Subscriber): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Handles a payload of another node; ignores this node's own payloads. */
  receiveNotification(payload: string): void {
    const notification = parse(payload);
    if (!notification || notification.from === this.#options.from) return;
    for (const [topic, keys] of notification.about) for (const key of keys) this.#notify(topic, key);
  }

  /** Notifications may have been lost: every subscriber checks everything. */
  notifyAll(): void {
    for (const topic of this.#listeners.keys()) this.#notify(topic, ALL_KEYS);
  }

  /** Sends the waiting notifications once the previous send has finished. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#sending) await this.#sending;
    this.#sending = this.#sendWaiting();
    await this.#sending;
    this.#sending = undefined;
    if (this.#waiting.size > 0) this.#flushSoon();
  }

  /** Sends one notification at a time: heartbeats share the connection and must not queue behind many. */
  #flushSoon(): void {
    if (!this.#sending) this.#timer ??= setTimeout(() => void this.flush(), COALESCE_MS);
  }

  async #sendWaiting(): Promise<void> {
    const about = [...this.#waiting].map(([topic, keys]): TopicKeys => [topic, [...keys]]);
    this.#waiting = new Map();
    if (about.length === 0 || !this.#options.hasOtherNodes()) return;
    // If the connection loses it, polling finds the same work.
    await this.#options.send(this.#payload(about)).catch(() => {});
  }

  #payload(about: TopicKeys[]): string {
    const payload = JSON.stringify({ from: this.#options.from, about });
    if (Buffer.byteLength(payload) <= PAYLOAD_LIMIT) return payload;
    const topics = about.map(([topic]): TopicKeys => [topic, [ALL_KEYS]]);
    return JSON.stringify({ from: this.#options.from, about: topics });
  }

  #notify(topic: string, key: string, detail?: unknown): void {
    for (const listener of this.#listeners.get(topic) ?? []) {
      try {
        listener(key, detail);
      } catch (error) {
        this.#options.log.error({ err: error, topic }, "a notification subscriber threw");
      }
    }
  }
}

type TopicKeys = [topic: string, keys: string[]];

function parse(payload: string): { from: string; about: TopicKeys[] } | undefined {
  try {
    const notification: unknown = JSON.parse(payload);
    return isNotification(notification) ? notification : undefined;
  } catch {
    // Another program uses the channel.
    return undefined;
  }
}

function isNotification(notification: unknown): notification is { from: string; about: TopicKeys[] } {
  if (
    typeof notification !== "object" ||
    notification === null ||
    !("from" in notification) ||
    !("about" in notification)
  )
    return false;
  return (
    Array.isArray(notification.about) &&
    notification.about.every((one) => Array.isArray(one) && Array.isArray(one[1]))
  );
}
