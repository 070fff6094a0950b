import { KeyedMutex } from "./keyed-mutex.ts";

/** The order in which one connection handles its messages: several chats at the same time, each in order. */
export class MessageOrder {
  readonly #chats = new KeyedMutex();
  /** Messages of one author change the same Signal session, even if they are in different chats. */
  readonly #authors = new KeyedMutex();
  readonly #unhandled = new Set<Promise<void>>();
  #alone: Promise<void> = Promise.resolve();

  /** Handles a message after the previous one of its chat, and never together with another one of its author. */
  run(chat: string, author: string, handle: () => Promise<void>): void {
    const alone = this.#alone;
    const handled = this.#chats.run(chat, async () => {
      await alone;
      await this.#authors.run(author, handle);
    });
    this.#unhandled.add(handled);
    void handled.finally(() => this.#unhandled.delete(handled));
  }

  /** Handles a message after all earlier ones and before all later ones. */
  runAlone(handle: () => Promise<void>): void {
    this.#alone = Promise.all([this.#alone, ...this.#unhandled]).then(handle);
  }

  /** Resolves when all messages of `runAlone` so far are handled. */
  whenAloneHandled(): Promise<void> {
    return this.#alone;
  }
}
