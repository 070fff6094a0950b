import type { Jid, NetworkEvent } from "../../driver.ts";
import { INBOX_PAGE_SIZE, type InboxPage, type SocketState } from "./device-inbox.ts";
import { type QueuedInboxEntry, toInboxEvents } from "./inbox-entry.ts";

/** Chats of one session whose events are reported concurrently. */
const CHATS_AT_ONCE = 32;

export interface InboxConsumerOptions {
  read(busy: string[]): Promise<InboxPage>;
  report(event: NetworkEvent): Promise<void>;
  /** Never rejects; false if the entries are still stored. */
  acknowledge(entries: number[]): Promise<boolean>;
  onClosed(state: Exclude<SocketState, "open">): void;
  onFailure(error: unknown): void;
  redeliveryMs: number;
}

/**
 * Reads the inbox of an open socket: chats concurrently, each in order. It deletes an entry only after its
 * event is stored, and retries a failed report after a pause.
 */
export class InboxConsumer {
  readonly #options: InboxConsumerOptions;
  readonly #busy = new Set<string>();
  readonly #deliveries = new Set<Promise<void>>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #state: "running" | "finishing" | "dead" = "running";
  #isReading = false;
  #isWoken = false;

  constructor(options: InboxConsumerOptions) {
    this.#options = options;
  }

  poll(): void {
    this.#isWoken = true;
    if (!this.#isReading) void this.#read();
  }

  /** Starts no new reports, and resolves when the current ones have ended. */
  async finish(): Promise<void> {
    if (this.#state === "running") this.#state = "finishing";
    this.#clearTimers();
    await Promise.all(this.#deliveries);
  }

  /** The socket is closed: unacknowledged entries stay in the inbox. */
  stop(): void {
    this.#state = "dead";
    this.#clearTimers();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    while (this.#isWoken && this.#isRunning()) {
      this.#isWoken = false;
      const page = await this.#readPage();
      if (!page || !this.#isRunning()) break;
      if (page.state !== "open") this.#options.onClosed(page.state);
      else this.#deliver(page.entries);
    }
    this.#isReading = false;
  }

  async #readPage(): Promise<InboxPage | undefined> {
    // Polls the socket's state even at the limit of concurrent chats; each chat that ends triggers another
    // poll.
    try {
      return await this.#options.read([...this.#busy]);
    } catch (error) {
      this.#options.onFailure(error);
      this.#later(() => this.poll());
      return undefined;
    }
  }

  #deliver(entries: QueuedInboxEntry[]): void {
    for (const [chat, ofChat] of byChat(entries)) {
      if (this.#busy.size >= CHATS_AT_ONCE) return;
      this.#busy.add(chat);
      const delivery = this.#deliverChat(chat, ofChat).finally(() => this.#deliveries.delete(delivery));
      this.#deliveries.add(delivery);
    }
    // At the limit, the first chat that ends triggers the next poll.
    if (entries.length === INBOX_PAGE_SIZE && this.#busy.size < CHATS_AT_ONCE) this.#isWoken = true;
  }

  async #deliverChat(chat: string, entries: QueuedInboxEntry[]): Promise<void> {
    const acknowledgements: Promise<boolean>[] = [];
    const isReported = await this.#reportAll(entries, acknowledgements);
    const isAcknowledged = (await Promise.all(acknowledgements)).every(Boolean);
    if (isReported && isAcknowledged) this.#free(chat);
    else this.#later(() => this.#free(chat));
  }

  async #reportAll(entries: QueuedInboxEntry[], acknowledgements: Promise<boolean>[]): Promise<boolean> {
    for (const { event, entryIds: reported } of toInboxEvents(entries)) {
      if (!this.#isRunning()) return true;
      try {
        await this.#options.report(event);
      } catch (error) {
        this.#options.onFailure(error);
        return false;
      }
      if (this.#state === "dead") return true;
      acknowledgements.push(this.#options.acknowledge(reported));
    }
    return true;
  }

  #free(chat: string): void {
    this.#busy.delete(chat);
    if (this.#isRunning()) this.poll();
  }

  #later(act: () => void): void {
    if (!this.#isRunning()) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, this.#options.redeliveryMs);
    this.#timers.add(timer);
  }

  #clearTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #isRunning(): boolean {
    return this.#state === "running";
  }
}

function byChat(entries: QueuedInboxEntry[]): Map<Jid, QueuedInboxEntry[]> {
  const chats = new Map<Jid, QueuedInboxEntry[]>();
  for (const entry of entries) {
    const ofChat = chats.get(entry.chat);
    if (ofChat) ofChat.push(entry);
    else chats.set(entry.chat, [entry]);
  }
  return chats;
}
