/** The identity of a pairing, kept by the gateway; the bytes mean something to the driver only. */
export interface CredentialStore {
  load(): Promise<Uint8Array | undefined>;
  /** Resolves once durable; rejects when another process owns the instance now. */
  save(credentials: Uint8Array): Promise<void>;
  /** Keys and letters of the pairing go with it, and a registration too. */
  erase(): Promise<void>;
  /** What a pairing under way needs to go on after a restart; gone once `save` or `erase` has resolved. */
  loadRegistration(): Promise<Uint8Array | undefined>;
  /** Resolves once durable; rejects when there is a pairing, or another process owns the instance now. */
  saveRegistration(registration: Uint8Array): Promise<void>;
  /** For networks whose pairings change with every message. */
  readonly keys?: PairingStore;
}

/** One of the many small secrets of a pairing, such as the state of an encrypted conversation; null removes it. */
export interface KeyChange {
  kind: string;
  id: string;
  value: string | null;
}

/** A piece of a message that is ours once it is kept: the network may be told, the report may follow. */
export interface StoredJournalEntry {
  /** Names the piece for ever, so that it is known when the network brings it again. */
  id: string;
  /** Means something to the driver only. */
  body: string;
  /** Reported; kept until the network has stopped bringing it. */
  is_done: boolean;
}

/** What belongs together: all of it is kept, or nothing. */
export interface PairingChange {
  credentials?: Uint8Array;
  keys: KeyChange[];
  /** Take the place of those with the same id. */
  letters: StoredJournalEntry[];
  forgotten_letters: string[];
}

/** Keys and letters of the pairing that `load` found or `save` began; those of an earlier one are never seen. */
export interface PairingStore {
  read(kind: string, ids: readonly string[]): Promise<Map<string, string>>;
  /** All of them, in the order in which they came; or the ones named. */
  letters(ids?: readonly string[]): Promise<StoredJournalEntry[]>;
  /**
   * Resolves once durable; `lost`: nothing is kept, the instance has another owner, or the pairing is over. Rejects when
   * it cannot be known, and may then be tried again.
   */
  commit(change: PairingChange): Promise<"kept" | "lost">;
}
