import { createHash } from "node:crypto";
import type { Log } from "../../platform/log/log.ts";

/** The channel of all nodes. */
export const NOTIFY_CHANNEL = "waygate";
/** The key of a notification that means: check everything. */
export const ALL_KEYS = "*";

/** Least time between two sends. */
const COALESCE_MS = 10;
/** PostgreSQL rejects payloads of 8,000 bytes or more. */
const PAYLOAD_LIMIT = 7_999;

/** The channel of one node. A hash, because PostgreSQL limits the length of the name. */
export function channelOf(node: string): string {
  return `${NOTIFY_CHANNEL}_${createHash("sha256").update(node).digest("hex").slice(0, 16)}`;
}

export interface Notice {
  channel: string;
  payload: string;
}

export interface NotificationBusOptions {
  /** The name of this node. */
  node: string;
  /** Distinguishes the notifications of this process from those of other processes. */
  from: string;
  /** Sends the notices in one statement; a failure loses them. */
  send(notices: readonly Notice[]): Promise<void>;
  /** Whether there are other nodes to notify. */
  hasOtherNodes(): boolean;
  log: Log;
}

type Subscriber = (key: string, detail?: unknown) => void;

/** Notifications between nodes: coalesced, sent after the commit, and never relied upon. */
export class NotificationBus {
  readonly #options: NotificationBusOptions;
  readonly #listeners = new Map<string, Set<Subscriber>>();
  /** The keys of each topic, by channel. */
  #waiting = new Map<string, Map<string, Set<string>>>();
  #timer: NodeJS.Timeout | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  #sending: Promise<void> | undefined;

  constructor(options: NotificationBusOptions) {
    this.#options = options;
  }

  /**
   * Notifies local subscribers at once, and the other nodes, or `node` alone, at most 10 ms after the previous
   * send has finished.
   */
  publish(topic: string, key: string, detail?: unknown, node?: string): void {
    this.#notify(topic, key, detail);
    this.publishToOtherNodes(topic, key, node);
  }

  publishToOtherNodes(topic: string, key: string, node?: string): void {
    if (node === this.#options.node || !this.#options.hasOtherNodes()) return;
    const channel = node === undefined ? NOTIFY_CHANNEL : channelOf(node);
    const topics = this.#waiting.get(channel) ?? new Map<string, Set<string>>();
    this.#waiting.set(channel, topics.set(topic, (topics.get(topic) ?? new Set()).add(key)));
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
    this.#sentAt = performance.now();
    if (this.#waiting.size > 0) this.#flushSoon();
  }

  /** Sends one notification at a time: heartbeats share the connection and must not queue behind many. */
  #flushSoon(): void {
    if (this.#sending) return;
    const waitMs = Math.max(0, this.#sentAt + COALESCE_MS - performance.now());
    this.#timer ??= setTimeout(() => void this.flush(), waitMs);
  }

  async #sendWaiting(): Promise<void> {
    const notices = [...this.#waiting].map(([channel, topics]) => ({
      channel,
      payload: this.#payload(topics),
    }));
    this.#waiting = new Map();
    if (notices.length === 0) return;
    // If the connection loses them, polling finds the same work.
    await this.#options.send(notices).catch(() => {});
  }

  #payload(topicKeys: ReadonlyMap<string, ReadonlySet<string>>): string {
    const about = [...topicKeys].map(([topic, keys]): TopicKeys => [topic, [...keys]]);
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
