import type { BinaryNode, WAMessage } from "baileys";
import type { PairingStore } from "../../driver.ts";
import type { WriteBehindKeyStore } from "../keys/write-behind-key-store.ts";
import {
  type CiphertextPosition,
  fromStoredEntry,
  type JournalEntry,
  journalEntryId,
  readMessage,
  toDedupMarker,
  toJournalEntry,
  toStoredEntry,
} from "../wire/journal-entry.ts";
import { readStanza } from "../wire/read-stanza.ts";
import { encNodesOf, isPeerMessage, stanzaKey } from "../wire/stanza.ts";

export interface DecryptedMessage {
  message: WAMessage;
  stanza: Record<string, string>;
}

export interface InboundJournalOptions {
  letters: PairingStore["letters"];
  store: WriteBehindKeyStore;
  me(): { id: string; lid?: string };
  /** Resolves once the message is reported, in its place in the chat from the call on. */
  deliver(
    stanza: Record<string, string>,
    arrived: Promise<DecryptedMessage | undefined>,
    isReplay: boolean,
  ): Promise<void>;
  /** Something that our own phone told is kept, and its effect is not. */
  onPeer(entry: JournalEntry): void;
  onFailure(error: unknown): void;
}

/**
 * The journal of what was decrypted: kept with the ratchet before the network hears of it, reported from here, and known
 * again when the network brings it again.
 */
export class InboundJournal {
  readonly #options: InboundJournalOptions;
  readonly #places = new WeakMap<Uint8Array, CiphertextPosition>();
  /** Every ciphertext that is kept. */
  readonly #entries = new Map<string, JournalEntry>();
  /** Those of one stanza, until they are reported. */
  readonly #open = new Map<string, JournalEntry[]>();
  /** Reported stanzas by the id of the message: kept until the network knows that we have it. */
  readonly #done = new Map<string, string[]>();
  /** Whose receipt the network had before the report was done. */
  readonly #receipted = new Set<string>();
  readonly #applied = new Set<string>();

  constructor(options: InboundJournalOptions) {
    this.#options = options;
  }

  /** Takes up what an earlier connection left behind, in its order. */
  async replay(): Promise<void> {
    const stanzas = new Map<string, JournalEntry[]>();
    for (const letter of await this.#options.letters()) {
      const entry = fromStoredEntry(letter);
      this.#entries.set(entry.id, entry);
      if (letter.is_done) add(this.#done, entry.stanza.id ?? "", entry.id);
      else add(stanzas, stanzaKey(entry.stanza), entry);
    }
    for (const [key, entries] of stanzas) {
      this.#open.set(key, entries);
      const [first] = entries;
      if (first && !isPeerMessage(first.stanza)) this.#deliverWhole(key, true);
    }
  }

  /** Before anybody handles a stanza: which ciphertext belongs to it. */
  expect(node: BinaryNode): void {
    const encs = encNodesOf(node);
    for (const [index, enc] of encs.entries()) {
      this.#places.set(enc.content, { stanza: node.attrs, index, count: encs.length, enc });
    }
  }

  placeOf(ciphertext: Uint8Array): CiphertextPosition | undefined {
    return this.#places.get(ciphertext);
  }

  /** What a ciphertext said when it was decrypted before. */
  find(ciphertext: Uint8Array): Buffer | undefined {
    const entry = this.#entries.get(journalEntryId(ciphertext));
    return entry && this.#answer(entry);
  }

  /** As `find`, also for what was kept in the last moment of an earlier connection. */
  async look(ciphertext: Uint8Array): Promise<Buffer | undefined> {
    const [letter] = await this.#options.letters([journalEntryId(ciphertext)]);
    if (!letter) return undefined;
    const entry = fromStoredEntry(letter);
    this.#entries.set(entry.id, entry);
    if (!letter.is_done) this.#stored(entry);
    return this.#answer(entry);
  }

  /** To be kept in the same commit as the ratchet. */
  enter(
    place: CiphertextPosition,
    plaintext: Uint8Array,
  ): { entry: JournalEntry; data: Record<string, unknown> } {
    const entry = toJournalEntry(place, plaintext);
    return { entry, data: { [entry.id]: toStoredEntry(entry) } };
  }

  /** The commit is done: the message is ours. */
  stored(entry: JournalEntry): void {
    this.#entries.set(entry.id, entry);
    if (entry.hasSenderKey) this.#applied.add(senderKeyOf(entry.plaintext));
    this.#stored(entry);
  }

  /** Whether the key of a sender came with a ciphertext that is kept, and so was applied in its commit. */
  takeApplied(senderKey: Uint8Array): boolean {
    return this.#applied.delete(Buffer.from(senderKey).toString("base64"));
  }

  /** The network knows that we have a message: it will not come again. */
  receipted(id: string): void {
    const ids = this.#done.get(id);
    if (ids) this.#forget(id, ids);
    else remember(this.#receipted, id);
  }

  /** What came from our own phone for us only, and whose effect is not known to be kept. */
  openPeerEntries(): JournalEntry[] {
    return [...this.#open.values()].flat().filter(({ stanza }) => isPeerMessage(stanza));
  }

  /** The effect of what our own phone told is kept. */
  finishPeer(stanza: Record<string, string>): void {
    const key = stanzaKey(stanza);
    const entries = this.#open.get(key);
    if (entries && isPeerMessage(stanza)) this.#finish(key, entries);
  }

  /** As a stanza from the network, to be handled once more; its ciphertext stands for the entry. */
  toStanza(entry: JournalEntry): BinaryNode {
    const token = Buffer.from(entry.id);
    this.#entries.set(journalEntryId(token), entry);
    return {
      tag: "message",
      attrs: entry.stanza,
      content: [{ tag: "enc", attrs: entry.enc, content: token }],
    };
  }

  #answer(entry: JournalEntry): Buffer {
    if (entry.hasSenderKey) this.#applied.add(senderKeyOf(entry.plaintext));
    if (isPeerMessage(entry.stanza) && this.#open.has(stanzaKey(entry.stanza))) this.#options.onPeer(entry);
    return entry.plaintext;
  }

  #stored(entry: JournalEntry): void {
    const key = stanzaKey(entry.stanza);
    add(this.#open, key, entry);
    if (isPeerMessage(entry.stanza)) this.#options.onPeer(entry);
    else this.#deliverWhole(key, false);
  }

  /** The key of a sender alone is no message: the rest of its stanza is still to come. */
  #deliverWhole(key: string, isReplay: boolean): void {
    const entries = this.#open.get(key) ?? [];
    if (entries.every((entry) => entry.isSenderKeyOnly && entry.count > 1)) return;
    this.#open.delete(key);
    void this.#deliver(key, entries, isReplay);
  }

  async #deliver(key: string, entries: JournalEntry[], isReplay: boolean): Promise<void> {
    const { deliver, me, onFailure } = this.#options;
    const [first] = entries;
    try {
      await deliver(first?.stanza ?? {}, readStanza(entries, me()), isReplay);
    } catch (error) {
      // A message that nobody can make sense of must not come back for ever.
      onFailure(error);
    }
    this.#finish(key, entries);
  }

  #finish(key: string, entries: JournalEntry[]): void {
    this.#open.delete(key);
    const [first] = entries;
    const id = first?.stanza.id ?? "";
    const ids = entries.map((entry) => entry.id);
    if (this.#receipted.delete(id)) {
      this.#forget(id, ids);
      return;
    }
    for (const entryId of ids) add(this.#done, id, entryId);
    this.#options.store.writeLater({ letters: entries.map(toDedupMarker), forgotten_letters: [] });
    for (const entry of entries) if (!entry.hasSenderKey) entry.plaintext = EMPTY;
  }

  #forget(id: string, ids: string[]): void {
    this.#done.delete(id);
    for (const entryId of ids) this.#entries.delete(entryId);
    this.#options.store.writeLater({ letters: [], forgotten_letters: ids });
  }
}

const EMPTY = Buffer.from([1]);
const REMEMBERED = 1_000;

function add<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

function remember(set: Set<string>, item: string): void {
  set.add(item);
  const [oldest] = set;
  if (set.size > REMEMBERED && oldest !== undefined) set.delete(oldest);
}

function senderKeyOf(plaintext: Uint8Array): string {
  const key = readMessage(plaintext).senderKeyDistributionMessage?.axolotlSenderKeyDistributionMessage;
  return Buffer.from(key ?? []).toString("base64");
}
