import type { KeyChange, PairingChange, StoredJournalEntry } from "./credential-store.ts";

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
