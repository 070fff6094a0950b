import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { BufferJSON, proto, type SignalDataSet, type SignalKeyStore } from "baileys";
import { mergePairingChanges } from "../../credential-store.ts";
import type {
  KeyChange,
  NetworkMessage,
  PairingChange,
  PairingStore,
  StoredJournalEntry,
} from "../../driver.ts";
import { repairSkippedKeys } from "../baileys-fixes/repair-skipped-keys.ts";
import { ConnectionClosedError } from "../stanzas/connection-closed-error.ts";
import { type DeferredChange, DeferredChanges } from "./deferred-changes.ts";
import type { SessionCaches } from "./session-caches.ts";

export interface WriteBehindKeyStoreOptions {
  keys: PairingStore;
  caches: SessionCaches;
  /** The current identity. */
  credentials(): Uint8Array;
  retryMs: number;
  /** Nothing can be stored any more: another process owns the pairing, or it has ended. */
  onLost(): void;
  onFailure(error: unknown): void;
}

interface PendingWrite {
  text: string | null;
}

/** An entry on its way into the journal. */
export interface JournalWrite {
  entry: StoredJournalEntry;
  /** The message of the entry, if it can be recorded in the same commit; the marker then replaces the entry. */
  recordable?: { message: NetworkMessage; marker: StoredJournalEntry } | undefined;
  /** Set by the commit: the message is recorded. */
  isRecorded?: boolean;
}

interface QueuedCommit {
  change: Partial<PairingChange>;
  journal: readonly JournalWrite[];
  written: ReadonlyMap<string, PendingWrite>;
  done(): void;
}

/** Many keys that are written once and read once. */
const NOT_CACHED = "pre-key";
/** The inbound journal, which Baileys' transactions carry together with the keys. */
export const JOURNAL_KEY_TYPE = "inbound";

const never = <T>() => new Promise<T>(() => {});

/**
 * The key store of one connection. A change is visible at once and resolves when it is durable. Each change
 * shares one commit with the identity's changes, in order. While the database is unavailable, everything
 * waits. After the end of the connection no change resolves, and reads fail.
 */
export class WriteBehindKeyStore implements SignalKeyStore {
  readonly #options: WriteBehindKeyStoreOptions;
  readonly #overlay = new Map<string, PendingWrite>();
  readonly #ahead = new WeakSet<object>();
  readonly #stop = new AbortController();
  #waiting: QueuedCommit[] = [];
  #isWriting = false;
  #isCredentialsDirty = false;
  #commits = 0;
  #lastWrite: Promise<void> = Promise.resolve();
  readonly #deferred = new DeferredChanges(() => this.#writeDeferredNow());

  constructor(options: WriteBehindKeyStoreOptions) {
    this.#options = options;
  }

  get = (async (kind: string, ids: string[]) => {
    const texts = await this.#texts(kind, [...new Set(ids)]);
    const found: Record<string, unknown> = {};
    for (const [id, text] of texts) if (text !== null) found[id] = decodeSignalKey(kind, text);
    return found;
  }) as SignalKeyStore["get"];

  /** Skips values that were written ahead: they are done, and newer ones may be stored already. */
  async set(data: SignalDataSet): Promise<void> {
    const { keys, journal } = toChange(data, (value) => this.#ahead.has(value));
    if (keys.length + journal.length > 0) await this.#write({ keys }, journal);
  }

  /** Writes outbound Signal session state at once; its transaction does not write the same objects again. */
  writeAhead(data: SignalDataSet): void {
    const { keys } = toChange(data, () => false);
    for (const values of Object.values(data)) {
      for (const value of Object.values(values)) if (isObject(value)) this.#ahead.add(value);
    }
    void this.#write({ keys });
  }

  /** Resolves once all changes so far are durable. */
  whenDurable(): Promise<void> {
    return this.#lastWrite;
  }

  /** The identity has changed: the next commit includes it, after a short delay at most. */
  markCredentialsDirty(): void {
    this.#isCredentialsDirty = true;
    setImmediate(() => {
      if (this.#isCredentialsDirty) void this.#write({});
    });
  }

  /** For changes that may be lost if the process dies. */
  writeDeferred(change: DeferredChange): void {
    this.#deferred.add(change);
    if (!this.#isOver()) this.#deferred.startTimer();
  }

  /** Resolves when all changes are written. */
  async drain(): Promise<void> {
    this.#writeDeferredNow();
    if (this.#isCredentialsDirty) void this.#write({});
    await this.#lastWrite;
  }

  close(): void {
    this.#deferred.stopTimer();
    this.#stop.abort();
    this.#waiting = [];
  }

  /** After the end: stores the remaining changes, so that the next connection need not repeat them. */
  async saveRemaining(): Promise<void> {
    if (this.#deferred.isEmpty) return;
    await this.#options.keys.commit(mergePairingChanges([this.#deferred.take()]));
  }

  async #texts(kind: string, ids: string[]): Promise<Map<string, string | null>> {
    const texts = new Map<string, string | null>();
    let missing = ids;
    while (missing.length > 0) {
      if (this.#isOver()) throw new ConnectionClosedError();
      missing = missing.filter((id) => {
        const text = this.#inMemory(nameOf(kind, id));
        if (text !== undefined) texts.set(id, text);
        return text === undefined;
      });
      if (missing.length === 0) break;
      const commits = this.#commits;
      const rows = await this.#read(kind, missing);
      // These rows may lack a change that was committed in between.
      if (commits !== this.#commits) continue;
      for (const id of missing) this.#cacheRead(texts, kind, id, rows.get(id) ?? null);
      break;
    }
    return texts;
  }

  #cacheRead(texts: Map<string, string | null>, kind: string, id: string, text: string | null): void {
    const name = nameOf(kind, id);
    const written = this.#overlay.get(name);
    texts.set(id, written ? written.text : text);
    if (kind !== NOT_CACHED) this.#options.caches.setKey(name, text);
  }

  #inMemory(name: string): string | null | undefined {
    const written = this.#overlay.get(name);
    return written ? written.text : this.#options.caches.key(name);
  }

  async #read(kind: string, ids: string[]): Promise<Map<string, string>> {
    for (;;) {
      try {
        return await this.#options.keys.read(kind, ids);
      } catch (error) {
        this.#options.onFailure(error);
        await this.#wait();
      }
      if (this.#isOver()) throw new ConnectionClosedError();
    }
  }

  #write(change: Partial<PairingChange>, journal: readonly JournalWrite[] = []): Promise<void> {
    if (this.#isOver()) return never();
    const written = new Map<string, PendingWrite>();
    for (const { kind, id, value } of change.keys ?? []) written.set(nameOf(kind, id), { text: value });
    for (const [name, entry] of written) this.#overlay.set(name, entry);
    if (this.#isCredentialsDirty) {
      this.#isCredentialsDirty = false;
      change.credentials = this.#options.credentials();
    }
    this.#lastWrite = new Promise((done) => this.#waiting.push({ change, journal, written, done }));
    if (!this.#isWriting) void this.#drain();
    return this.#lastWrite;
  }

  async #drain(): Promise<void> {
    this.#isWriting = true;
    // The changes of one message arrive within one turn of the event loop, and share a commit.
    await nextTurn();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      const result = await this.#commit(batch, this.#deferred.take());
      if (result !== "kept") return this.#giveUp(batch);
      this.#commits++;
      for (const waiting of batch) this.#complete(waiting);
    }
    this.#isWriting = false;
  }

  async #commit(batch: readonly QueuedCommit[], deferred: DeferredChange): Promise<"kept" | "lost" | "over"> {
    let isRecording = this.#options.keys.commitWithMessages !== undefined;
    for (;;) {
      try {
        const result = await this.#commitOnce(batch, deferred, isRecording);
        if (result === "lost") this.#options.onLost();
        if (result !== "unrecorded") return result;
        isRecording = false;
      } catch (error) {
        this.#options.onFailure(error);
        await this.#wait();
      }
      if (this.#isOver()) return "over";
    }
  }

  /** With `isRecording`, records the messages; otherwise they are reported from their entries later. */
  async #commitOnce(
    batch: readonly QueuedCommit[],
    deferred: DeferredChange,
    isRecording: boolean,
  ): Promise<"kept" | "lost" | "unrecorded"> {
    const { keys } = this.#options;
    const journal = batch.flatMap((waiting) => waiting.journal);
    const recorded = journal.filter(({ recordable }) => isRecording && recordable);
    const entries = journal.map(({ entry, recordable }) => (isRecording && recordable?.marker) || entry);
    const changes = [...batch.map(({ change }) => change), { journal_entries: entries }, deferred];
    const change = mergePairingChanges(changes);
    const messages = recorded.flatMap(({ recordable }) => recordable?.message ?? []);
    if (!keys.commitWithMessages || messages.length === 0) return keys.commit(change);
    const result = await keys.commitWithMessages(change, messages);
    for (const write of recorded) write.isRecorded = result === "kept";
    return result;
  }

  #complete({ written, done }: QueuedCommit): void {
    for (const [name, entry] of written) {
      if (!name.startsWith(NOT_CACHED)) this.#options.caches.setKey(name, entry.text);
      if (this.#overlay.get(name) === entry) this.#overlay.delete(name);
    }
    if (!this.#isOver()) done();
  }

  /** The outcome of the commit is unknown, so the next connection must read these keys again. */
  #giveUp(batch: readonly QueuedCommit[]): void {
    this.#isWriting = false;
    for (const { written } of batch) {
      for (const name of written.keys()) this.#options.caches.deleteKey(name);
    }
  }

  #writeDeferredNow(): void {
    if (!this.#deferred.isEmpty) void this.#write({});
  }

  async #wait(): Promise<void> {
    await pause(this.#options.retryMs, undefined, { signal: this.#stop.signal }).catch(() => {});
  }

  #isOver(): boolean {
    return this.#stop.signal.aborted;
  }
}

function nameOf(kind: string, id: string): string {
  return `${kind} ${id}`;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function toChange(data: SignalDataSet, isLeftOut: (value: object) => boolean) {
  const keys: KeyChange[] = [];
  const journal: JournalWrite[] = [];
  for (const [kind, id, value] of itemsOf(data)) {
    if (isObject(value) && isLeftOut(value)) continue;
    if (kind === JOURNAL_KEY_TYPE) journal.push(value as JournalWrite);
    else keys.push({ kind, id, value: value == null ? null : encodeSignalKey(value) });
  }
  return { keys, journal };
}

function itemsOf(data: SignalDataSet): [kind: string, id: string, value: unknown][] {
  return Object.entries(data).flatMap(([kind, values]) =>
    Object.entries(values ?? {}).map(([id, value]): [string, string, unknown] => [kind, id, value]),
  );
}

/** Encodes a value of Baileys' key store as text. */
function encodeSignalKey(value: unknown): string {
  return JSON.stringify(value, BufferJSON.replacer);
}

function decodeSignalKey(kind: string, text: string): unknown {
  // Sessions contain only base64 and are read with every message, so they skip the slower reviver.
  const value: unknown = kind === "session" ? JSON.parse(text) : JSON.parse(text, BufferJSON.reviver);
  if (kind === "sender-key") return repairSkippedKeys(value as Buffer);
  if (kind === "app-state-sync-key") {
    return proto.Message.AppStateSyncKeyData.fromObject(value as Record<string, unknown>);
  }
  return value;
}
