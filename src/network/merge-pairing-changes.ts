import type { KeyChange, PairingChange, StoredJournalEntry } from "./credential-store.ts";

/** One change with the effect of all of them in order: later values replace earlier ones. */
export function mergePairingChanges(changes: readonly Partial<PairingChange>[]): PairingChange {
  const keys = new Map<string, KeyChange>();
  const letters = new Map<string, StoredJournalEntry>();
  const forgotten = new Set<string>();
  let credentials: Uint8Array | undefined;
  for (const change of changes) {
    credentials = change.credentials ?? credentials;
    for (const key of change.keys ?? []) keys.set(`${key.kind} ${key.id}`, key);
    for (const letter of change.journal_entries ?? []) {
      letters.set(letter.id, letter);
      forgotten.delete(letter.id);
    }
    for (const id of change.deleted_journal_ids ?? []) {
      letters.delete(id);
      forgotten.add(id);
    }
  }
  return {
    ...(credentials && { credentials }),
    keys: [...keys.values()],
    journal_entries: [...letters.values()],
    deleted_journal_ids: [...forgotten],
  };
}
