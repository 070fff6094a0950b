import type { proto } from "baileys";
import type { SeenMessage } from "./control.ts";
import type { Address, BroadcastList } from "./group.ts";
import type { Device, ServerPerson } from "./person.ts";
import { type Bundle, SignalEnd, signalAddress } from "./protocol/signal-end.ts";

/** A phone's state of a disappearing chat; times in seconds. */
export interface Timer {
  expiration: number;
  set_at: number;
}

/** A message that a phone sent or decrypted. */
export interface StoredMessage {
  id: string;
  from: ServerPerson;
  /** The sending device; undefined for own messages. */
  device?: Device;
  to: Address;
  at: number;
  message: proto.IMessage;
  type: string;
  attrs?: Record<string, string>;
  list?: BroadcastList | undefined;
  /** Its file, while the phone has it. */
  file?: Uint8Array;
}

const KEEPS = 20_000;

/** A person's phone, which the server runs as device 0. */
export class Handset {
  readonly person: ServerPerson;
  readonly number = 0;
  signal: SignalEnd;
  readonly seen: SeenMessage[] = [];
  /** Disappearing timers by the other person's phone. */
  readonly timers = new Map<string, Timer>();
  readonly #seenReceipts = new Set<string>();
  readonly #seenMessages = new Map<string, Extract<SeenMessage, { type: "message" }>>();
  /** Devices that have the phone's sender key, by group. */
  readonly keyHolders = new Map<string, Set<string>>();
  readonly #messages = new Map<string, StoredMessage>();
  readonly #retryRequests = new Map<string, number>();
  #work: Promise<unknown> = Promise.resolve();

  constructor(person: ServerPerson) {
    this.person = person;
    this.signal = new SignalEnd(person.identity);
  }

  get address(): string {
    return signalAddress(this.person.lid, 0);
  }

  bundle(): Promise<Bundle> {
    return this.signal.bundle();
  }

  /** Reinstalls the app: new keys and no sessions. */
  renew(): void {
    this.signal = new SignalEnd(this.person.identity);
    this.keyHolders.clear();
  }

  /** Serializes the phone's work. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }

  /** Counts a repeated message, and ignores a receipt of a second device of the same person. */
  see(seen: SeenMessage): void {
    if (seen.type === "message" && this.#sawBefore(seen)) return;
    if ("ids" in seen) {
      const key = `${seen.type} ${seen.from} ${seen.ids.join()}`;
      if (this.#seenReceipts.has(key)) return;
      this.#seenReceipts.add(key);
    }
    this.seen.push(seen);
  }

  #sawBefore(seen: Extract<SeenMessage, { type: "message" }>): boolean {
    const before = this.#seenMessages.get(seen.id);
    if (before) before.times++;
    else this.#seenMessages.set(seen.id, seen);
    return before !== undefined;
  }

  store(findMessage: StoredMessage): void {
    this.#messages.set(findMessage.id, findMessage);
    if (this.#messages.size <= KEEPS) return;
    for (const [oldest] of this.#messages) {
      this.#messages.delete(oldest);
      break;
    }
  }

  kept(id: string): StoredMessage | undefined {
    return this.#messages.get(id);
  }

  deleteFiles(): void {
    for (const message of this.#messages.values()) message.file = undefined;
  }

  /** Number of retry requests for this message, including this one. */
  countRetry(id: string): number {
    const times = (this.#retryRequests.get(id) ?? 0) + 1;
    this.#retryRequests.set(id, times);
    return times;
  }
}
