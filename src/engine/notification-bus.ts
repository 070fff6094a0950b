import type { Log } from "../platform/log/log.ts";

export const NOTIFY_CHANNEL = "waygate";
/** The key of a hint that says: look at everything. */
export const ALL_KEYS = "*";

const COALESCE_MS = 10;
/** PostgreSQL refuses payloads of 8,000 bytes and more. */
const PAYLOAD_LIMIT = 7_999;

export interface NotificationBusOptions {
  /** Tells the hints of this node from those of others. */
  from: string;
  /** Sends one payload to all nodes; a failure loses it. */
  send(payload: string): Promise<void>;
  /** Whether there is anybody to tell. */
  hasAudience(): boolean;
  log: Log;
}

type Subscriber = (key: string, detail?: unknown) => void;

/** Hints between nodes: coalesced, sent after the commit, never relied upon. */
export class NotificationBus {
  readonly #options: NotificationBusOptions;
  readonly #listeners = new Map<string, Set<Subscriber>>();
  #waiting = new Map<string, Set<string>>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;

  constructor(options: NotificationBusOptions) {
    this.#options = options;
  }

  /** To the listeners of this node at once, to the other nodes within 10 ms, unless the notice before is still on its way. */
  tell(topic: string, key: string, detail?: unknown): void {
    this.#call(topic, key, detail);
    this.tellOthers(topic, key);
  }

  tellOthers(topic: string, key: string): void {
    const keys = this.#waiting.get(topic) ?? new Set();
    this.#waiting.set(topic, keys.add(key));
    this.#flushSoon();
  }

  hear(topic: string, listener: Subscriber): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Takes a payload of another node, or of this one, whose own is ignored. */
  receive(payload: string): void {
    const hint = parse(payload);
    if (!hint || hint.from === this.#options.from) return;
    for (const [topic, keys] of hint.about) for (const key of keys) this.#call(topic, key);
  }

  /** Hints may have been missed: everybody looks at everything. */
  missed(): void {
    for (const topic of this.#listeners.keys()) this.#call(topic, ALL_KEYS);
  }

  /** Sends what is waiting now, once the notice before it has gone. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#sending) await this.#sending;
    this.#sending = this.#sendWaiting();
    await this.#sending;
    this.#sending = undefined;
    if (this.#waiting.size > 0) this.#flushSoon();
  }

  /** One notice at a time: beats stand in the same line, and must not wait behind many. */
  #flushSoon(): void {
    if (!this.#sending) this.#timer ??= setTimeout(() => void this.flush(), COALESCE_MS);
  }

  async #sendWaiting(): Promise<void> {
    const about = [...this.#waiting].map(([topic, keys]): TopicKeys => [topic, [...keys]]);
    this.#waiting = new Map();
    if (about.length === 0 || !this.#options.hasAudience()) return;
    // Lost with the connection: the poll finds what the hint was about.
    await this.#options.send(this.#payload(about)).catch(() => {});
  }

  #payload(about: TopicKeys[]): string {
    const payload = JSON.stringify({ from: this.#options.from, about });
    if (Buffer.byteLength(payload) <= PAYLOAD_LIMIT) return payload;
    const topics = about.map(([topic]): TopicKeys => [topic, [ALL_KEYS]]);
    return JSON.stringify({ from: this.#options.from, about: topics });
  }

  #call(topic: string, key: string, detail?: unknown): void {
    for (const listener of this.#listeners.get(topic) ?? []) {
      try {
        listener(key, detail);
      } catch (error) {
        this.#options.log.error({ err: error, topic }, "a listener to hints threw");
      }
    }
  }
}

type TopicKeys = [topic: string, keys: string[]];

function parse(payload: string): { from: string; about: TopicKeys[] } | undefined {
  try {
    const hint: unknown = JSON.parse(payload);
    return isHint(hint) ? hint : undefined;
  } catch {
    // Somebody else uses the channel.
    return undefined;
  }
}

function isHint(hint: unknown): hint is { from: string; about: TopicKeys[] } {
  if (typeof hint !== "object" || hint === null || !("from" in hint) || !("about" in hint)) return false;
  return Array.isArray(hint.about) && hint.about.every((one) => Array.isArray(one) && Array.isArray(one[1]));
}
