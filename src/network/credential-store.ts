import type { NetworkMessage } from "./network-message.ts";

/** The identity of a pairing, stored by the gateway; only the driver reads the bytes. */
export interface CredentialStore {
  load(): Promise<Uint8Array | undefined>;
  /** Resolves once durable; rejects when another process owns the instance now. */
  save(credentials: Uint8Array): Promise<void>;
  /** Also deletes the pairing's keys, journal entries and registration. */
  erase(): Promise<void>;
  /**
   * State with which a pairing in progress continues after a restart; deleted once `save` or `erase` has
   * resolved.
   */
  loadRegistration(): Promise<Uint8Array | undefined>;
  /** Resolves once durable; rejects if a pairing exists or another process owns the instance. */
  saveRegistration(registration: Uint8Array): Promise<void>;
  /** For networks whose pairings change with every message. */
  readonly keys?: PairingStore;
}

/**
 * One of the many small secrets of a pairing, such as the state of an encrypted conversation; null deletes
 * it.
 */
export interface KeyChange {
  kind: string;
  id: string;
  value: string | null;
}

/** A decrypted part of a message. Once stored, it can be acknowledged to the network and reported. */
export interface StoredJournalEntry {
  /** Identifies the part permanently, so that a redelivery by the network is recognised. */
  id: string;
  /** Only the driver reads it. */
  body: string;
  /** Already reported; kept until the network stops redelivering it. */
  is_done: boolean;
}

/** Changes that are stored atomically. */
export interface PairingChange {
  credentials?: Uint8Array;
  keys: KeyChange[];
  /** Replace those with the same id. */
  journal_entries: StoredJournalEntry[];
  deleted_journal_ids: string[];
}

/**
 * Keys and journal entries of the pairing that `load` found or `save` began, never those of an earlier
 * pairing.
 */
export interface PairingStore {
  read(kind: string, ids: readonly string[]): Promise<Map<string, string>>;
  /** All entries in order of arrival, or only the named ones. */
  readJournal(ids?: readonly string[]): Promise<StoredJournalEntry[]>;
  /**
   * Resolves once durable. `lost`: nothing was stored, because the instance has another owner or the pairing
   * has ended. Rejects if the outcome is unknown; the commit can then be retried.
   */
  commit(change: PairingChange): Promise<"kept" | "lost">;
  /**
   * Like `commit`, and stores the messages in the same commit as if they were reported. `unrecorded`: nothing was
   * stored, because the messages cannot be stored now; the change can be committed alone. Absent if a store keeps
   * no messages.
   */
  commitWithMessages?(
    change: PairingChange,
    messages: readonly NetworkMessage[],
  ): Promise<"kept" | "lost" | "unrecorded">;
}

/** One change with the effect of all of them in order: later values replace earlier ones. */
export function mergePairingChanges(changes: readonly Partial<PairingChange>[]): PairingChange {
  const keys = new Map<string, KeyChange>();
  const entries = new Map<string, StoredJournalEntry>();
  const deleted = new Set<string>();
  let credentials: Uint8Array | undefined;
  for (const change of changes) {
    credentials = change.credentials ?? credentials;
    for (const key of change.keys ?? []) keys.set(`${key.kind} ${key.id}`, key);
    for (const entry of change.journal_entries ?? []) {
      entries.set(entry.id, entry);
      deleted.delete(entry.id);
    }
    for (const id of change.deleted_journal_ids ?? []) {
      entries.delete(id);
      deleted.add(id);
    }
  }
  return {
    ...(credentials && { credentials }),
    keys: [...keys.values()],
    journal_entries: [...entries.values()],
    deleted_journal_ids: [...deleted],
  };
}
