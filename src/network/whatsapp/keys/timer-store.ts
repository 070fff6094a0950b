import type { SignalDataSet, SignalKeyStore } from "baileys";
import type { Jid } from "../../driver.ts";
import type { ChatTimer } from "../stanzas/chat-timer.ts";
import { KeyedMutex } from "../stanzas/keyed-mutex.ts";
import { userOf } from "../stanzas/plain-jid.ts";
import type { IdentityStore } from "./identity-store.ts";

const KIND = "timer";

/** The timers of chats, by the jid of each. */
type Timers = Record<string, ChatTimer>;

/**
 * The timers of disappearing chats, stored with the pairing. Most chats have none, so 100 chats share an entry: sends to
 * many new chats read at most 100 entries.
 */
export class TimerStore {
  readonly #keys: SignalKeyStore;
  readonly #identities: IdentityStore;
  readonly #mutex = new KeyedMutex();

  constructor(keys: SignalKeyStore, identities: IdentityStore) {
    this.#keys = keys;
    this.#identities = identities;
  }

  /** The last known timer of a chat, under any of its addresses; undefined if none was ever set. */
  async find(chat: Jid): Promise<ChatTimer | undefined> {
    const lid = (await this.#identities.identify(chat))?.lid;
    const addresses = lid ? [chat, lid] : [chat];
    const stored = await this.#read([...new Set(addresses.map(entryOf))]);
    const [first, second] = addresses.flatMap((one) => stored[entryOf(one)]?.[one] ?? []);
    return first && second && isNewer(second, first) ? second : first;
  }

  /** Stores a timer unless a later one is known. It is durable with the next commit. */
  async learn(chat: Jid, timer: ChatTimer): Promise<void> {
    const entry = entryOf(chat);
    await this.#mutex.run(entry, async () => {
      const known = await this.find(chat);
      if (known && !isNewer(timer, known)) return;
      const { [entry]: timers } = await this.#read([entry]);
      void this.#keys.set({ [KIND]: { [entry]: { ...timers, [chat]: timer } } } as unknown as SignalDataSet);
    });
  }

  #read(entries: string[]): Promise<Record<string, Timers | undefined>> {
    return (this.#keys.get as unknown as (kind: string, ids: string[]) => Promise<Record<string, Timers>>)(
      KIND,
      entries,
    );
  }
}

/** The last two digits of the address. */
function entryOf(chat: string): string {
  return userOf(chat).slice(-2);
}

function isNewer(timer: ChatTimer, known: ChatTimer): boolean {
  if (timer.expiration === known.expiration && timer.set_at === known.set_at) return false;
  if (known.set_at === undefined) return true;
  return timer.set_at !== undefined && timer.set_at >= known.set_at;
}
