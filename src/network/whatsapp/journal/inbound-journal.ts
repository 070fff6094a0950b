import type { BinaryNode } from "baileys";
import type { NetworkMessage, PairingStore } from "../../driver.ts";
import type { JournalWrite, WriteBehindKeyStore } from "../keys/write-behind-key-store.ts";
import { encNodesOf, isPeerMessage, listRecipientsOf, stanzaKey } from "../stanzas/stanza.ts";
import {
  type CiphertextPosition,
  fromStoredEntry,
  type JournalEntry,
  journalEntryId,
  readableOf,
  readMessage,
  toDedupMarker,
  toJournalEntry,
  toStoredEntry,
} from "./journal-entry.ts";
import { type DecryptedMessage, readStanza } from "./read-stanza.ts";

/** A message that is recorded in the commit of its entry, with its place in the chat. */
export interface RecordableMessage {
  message: NetworkMessage;
  /** Gives up the place: the message is recorded, or reported like others. */
  release(): void;
}

/** An entry before its commit. */
export interface JournalDraft {
  entry: JournalEntry;
  write: JournalWrite;
  /** To be called after the commit. */
  release(): void;
}

export interface InboundJournalOptions {
  readEntries: PairingStore["readJournal"];
  store: WriteBehindKeyStore;
  me(): { id: string; lid?: string };
  /** The message of a stanza with this entry alone, if it can be recorded in the commit of the entry. */
  prepare(entry: JournalEntry): Promise<RecordableMessage | undefined>;
  /** Resolves once the message is reported; the call reserves its place in the chat. */
  deliver(
    entry: Pick<JournalEntry, "stanza" | "recipients">,
    message: Promise<DecryptedMessage | undefined>,
    isReplay: boolean,
  ): Promise<void>;
  /** A peer message from our own phone is stored, but its effect is not. */
  onPeerMessage(entry: JournalEntry): void;
  onFailure(error: unknown): void;
}

/**
 * The journal of decrypted messages. An entry is stored in the commit of its Signal keys, before the
 * acknowledgement. It is reported from here, and identifies a message that the network delivers again.
 */
export class InboundJournal {
  readonly #options: InboundJournalOptions;
  readonly #positions = new WeakMap<Uint8Array, CiphertextPosition>();
  /** Every stored ciphertext. */
  readonly #entries = new Map<string, JournalEntry>();
  /** Entries of one stanza until they are reported. */
  readonly #open = new Map<string, JournalEntry[]>();
  /** Reported stanzas by message id, kept until the network knows that we have the message. */
  readonly #done = new Map<string, string[]>();
  /** Messages whose receipt was sent before the report was done. */
  readonly #receipted = new Set<string>();
  readonly #applied = new Set<string>();

  constructor(options: InboundJournalOptions) {
    this.#options = options;
  }

  /** Reports the entries that earlier connections left behind, in their order. */
  async replay(): Promise<void> {
    const stanzas = new Map<string, JournalEntry[]>();
    for (const stored of await this.#options.readEntries()) {
      const entry = fromStoredEntry(stored);
      this.#entries.set(entry.id, entry);
      if (stored.is_done) add(this.#done, entry.stanza.id ?? "", entry.id);
      else add(stanzas, stanzaKey(entry.stanza), entry);
    }
    for (const [key, entries] of stanzas) {
      this.#open.set(key, entries);
      const [first] = entries;
      if (first && !isPeerMessage(first.stanza)) this.#deliverWhole(key, true);
    }
  }

  /** Records which ciphertexts belong to a stanza, before any handler sees it. */
  registerStanza(node: BinaryNode): void {
    const encs = encNodesOf(node);
    const found = listRecipientsOf(node);
    const recipients = found.length > 0 ? found : undefined;
    for (const [index, enc] of encs.entries()) {
      this.#positions.set(enc.content, { stanza: node.attrs, recipients, index, count: encs.length, enc });
    }
  }

  positionOf(ciphertext: Uint8Array): CiphertextPosition | undefined {
    return this.#positions.get(ciphertext);
  }

  /** The stored plaintext of a ciphertext that was decrypted before. */
  find(ciphertext: Uint8Array): Buffer | undefined {
    const entry = this.#entries.get(journalEntryId(ciphertext));
    return entry && this.#plaintextOf(entry);
  }

  /** Like `find`, but also finds entries that an earlier connection stored last. */
  async findOrLoad(ciphertext: Uint8Array): Promise<Buffer | undefined> {
    const [stored] = await this.#options.readEntries([journalEntryId(ciphertext)]);
    if (!stored) return undefined;
    const entry = fromStoredEntry(stored);
    this.#entries.set(entry.id, entry);
    if (!stored.is_done) this.#stored(entry);
    return this.#plaintextOf(entry);
  }

  /** Creates an entry for the commit of the Signal keys. */
  async draft(position: CiphertextPosition, plaintext: Uint8Array): Promise<JournalDraft> {
    const entry = toJournalEntry(position, plaintext);
    const { message, release = () => {} } = (await this.#prepare(entry)) ?? {};
    const recordable = message && { message, marker: toDedupMarker(entry) };
    return { entry, write: { entry: toStoredEntry(entry), recordable }, release };
  }

  /** The commit is done: the gateway now has the message. */
  markStored({ entry, write }: JournalDraft): void {
    this.#entries.set(entry.id, entry);
    if (entry.hasSenderKey) this.#applied.add(senderKeyOf(entry.plaintext));
    if (write.isRecorded) this.#remember([entry]);
    else this.#stored(entry);
  }

  /** Whether a sender key came with a stored ciphertext, and was applied in its commit. */
  consumeAppliedSenderKey(senderKey: Uint8Array): boolean {
    return this.#applied.delete(Buffer.from(senderKey).toString("base64"));
  }

  /** The network knows that we have the message, and does not deliver it again. */
  markAcknowledged(id: string): void {
    const ids = this.#done.get(id);
    if (ids) this.#delete(id, ids);
    else remember(this.#receipted, id);
  }

  /** The network has the acknowledgement of a stanza that is not reported, even if a part could not be decrypted. */
  forget(stanza: Record<string, string>): void {
    this.markAcknowledged(stanza.id ?? "");
    const key = stanzaKey(stanza);
    const entries = this.#open.get(key);
    if (entries) this.#finish(key, entries);
  }

  /** Peer messages from our own phone whose effect may not be stored. */
  unfinishedPeerEntries(): JournalEntry[] {
    return [...this.#open.values()].flat().filter(({ stanza }) => isPeerMessage(stanza));
  }

  /** The effect of a peer message is stored. */
  completePeerEntry(stanza: Record<string, string>): void {
    const key = stanzaKey(stanza);
    const entries = this.#open.get(key);
    if (entries && isPeerMessage(stanza)) this.#finish(key, entries);
  }

  /** Converts the entry back to a stanza for another run; its ciphertext refers to the entry. */
  toStanza(entry: JournalEntry): BinaryNode {
    const token = Buffer.from(entry.id);
    this.#entries.set(journalEntryId(token), entry);
    return {
      tag: "message",
      attrs: entry.stanza,
      content: [{ tag: "enc", attrs: entry.enc, content: token }],
    };
  }

  async #prepare(entry: JournalEntry): Promise<RecordableMessage | undefined> {
    const { stanza, count, hasSenderKey } = entry;
    const isWhole = count === 1 && !hasSenderKey && !this.#open.has(stanzaKey(stanza));
    if (!isWhole || isPeerMessage(stanza)) return undefined;
    return this.#options.prepare(entry);
  }

  #plaintextOf(entry: JournalEntry): Buffer {
    if (entry.hasSenderKey) this.#applied.add(senderKeyOf(entry.plaintext));
    if (isPeerMessage(entry.stanza) && this.#open.has(stanzaKey(entry.stanza)))
      this.#options.onPeerMessage(entry);
    return readableOf(entry);
  }

  #stored(entry: JournalEntry): void {
    const key = stanzaKey(entry.stanza);
    add(this.#open, key, entry);
    if (isPeerMessage(entry.stanza)) this.#options.onPeerMessage(entry);
    else this.#deliverWhole(key, false);
  }

  /** A sender key alone is no message: the rest of its stanza follows. */
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
      await deliver(first ?? { stanza: {} }, readStanza(entries, me()), isReplay);
    } catch (error) {
      // A message that cannot be parsed must not be delivered again forever.
      onFailure(error);
    }
    this.#finish(key, entries);
  }

  #finish(key: string, entries: JournalEntry[]): void {
    this.#open.delete(key);
    const journal_entries = entries.map(toDedupMarker);
    if (this.#remember(entries))
      this.#options.store.writeDeferred({ journal_entries, deleted_journal_ids: [] });
  }

  /** Keeps the entries of a reported stanza for its redelivery; false if the network does not deliver it again. */
  #remember(entries: JournalEntry[]): boolean {
    const [first] = entries;
    const id = first?.stanza.id ?? "";
    const ids = entries.map((entry) => entry.id);
    if (this.#receipted.delete(id)) {
      this.#delete(id, ids);
      return false;
    }
    for (const entryId of ids) add(this.#done, id, entryId);
    for (const entry of entries) if (!entry.hasSenderKey) entry.plaintext = EMPTY;
    return true;
  }

  #delete(id: string, ids: string[]): void {
    this.#done.delete(id);
    for (const entryId of ids) this.#entries.delete(entryId);
    this.#options.store.writeDeferred({ journal_entries: [], deleted_journal_ids: ids });
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
