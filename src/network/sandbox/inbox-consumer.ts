import type { Jid, NetworkEvent } from "../driver.ts";
import { INBOX_PAGE_SIZE, type InboxPage, type SocketState } from "./device-inbox.ts";
import { type QueuedInboxEntry, toInboxEvents } from "./inbox-entry.ts";

/** Chats of one session whose events are reported side by side. */
const CHATS_AT_ONCE = 32;

export interface InboxConsumerOptions {
  read(busy: string[]): Promise<InboxPage>;
  report(event: NetworkEvent): Promise<void>;
  /** Never rejects; false when the letters are still there. */
  take(mails: number[]): Promise<boolean>;
  onClosed(state: Exclude<SocketState, "open">): void;
  onFailure(error: unknown): void;
  redeliverMs: number;
}

/**
 * Empties the mailbox of an open socket: each chat in order, several chats side by side, and a letter is taken only
 * once its event is stored. A chat whose report failed is tried again after a while.
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

  wake(): void {
    this.#isWoken = true;
    if (!this.#isReading) void this.#read();
  }

  /** Starts nothing more, and resolves when the reports under way have ended. */
  async finish(): Promise<void> {
    if (this.#state === "running") this.#state = "finishing";
    this.#clearTimers();
    await Promise.all(this.#deliveries);
  }

  /** The socket is gone: what has not been taken stays where it is. */
  kill(): void {
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
      else this.#deliver(page.mails);
    }
    this.#isReading = false;
  }

  async #readPage(): Promise<InboxPage | undefined> {
    // The state of the socket is asked for even when all hands are full; a chat that ends wakes again.
    try {
      return await this.#options.read([...this.#busy]);
    } catch (error) {
      this.#options.onFailure(error);
      this.#later(() => this.wake());
      return undefined;
    }
  }

  #deliver(mails: QueuedInboxEntry[]): void {
    for (const [chat, ofChat] of byChat(mails)) {
      if (this.#busy.size >= CHATS_AT_ONCE) return;
      this.#busy.add(chat);
      const delivery = this.#deliverChat(chat, ofChat).finally(() => this.#deliveries.delete(delivery));
      this.#deliveries.add(delivery);
    }
    // With all hands full, the chat that ends first wakes again.
    if (mails.length === INBOX_PAGE_SIZE && this.#busy.size < CHATS_AT_ONCE) this.#isWoken = true;
  }

  async #deliverChat(chat: string, mails: QueuedInboxEntry[]): Promise<void> {
    const taken: Promise<boolean>[] = [];
    const isReported = await this.#reportAll(mails, taken);
    const isTaken = (await Promise.all(taken)).every(Boolean);
    if (isReported && isTaken) this.#free(chat);
    else this.#later(() => this.#free(chat));
  }

  async #reportAll(mails: QueuedInboxEntry[], taken: Promise<boolean>[]): Promise<boolean> {
    for (const { event, mails: told } of toInboxEvents(mails)) {
      if (!this.#isRunning()) return true;
      try {
        await this.#options.report(event);
      } catch (error) {
        this.#options.onFailure(error);
        return false;
      }
      if (this.#state === "dead") return true;
      taken.push(this.#options.take(told));
    }
    return true;
  }

  #free(chat: string): void {
    this.#busy.delete(chat);
    if (this.#isRunning()) this.wake();
  }

  #later(act: () => void): void {
    if (!this.#isRunning()) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, this.#options.redeliverMs);
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

function byChat(mails: QueuedInboxEntry[]): Map<Jid, QueuedInboxEntry[]> {
  const chats = new Map<Jid, QueuedInboxEntry[]>();
  for (const mail of mails) {
    const ofChat = chats.get(mail.chat);
    if (ofChat) ofChat.push(mail);
    else chats.set(mail.chat, [mail]);
  }
  return chats;
}
