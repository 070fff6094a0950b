import type { PairingChange } from "../../driver.ts";

export type DeferredChange = Pick<PairingChange, "journal_entries" | "deleted_journal_ids">;

/** Maximum delay of entries that can share a later commit. */
const ENTRIES_MS = 200;
/** Maximum delay of deletions alone, which usually share the commit of the next message. */
const DELETIONS_MS = 10_000;

/** Changes that may be lost if the process dies, until a commit takes them along. */
export class DeferredChanges {
  readonly #onDue: () => void;
  #waiting: DeferredChange = { journal_entries: [], deleted_journal_ids: [] };
  #entriesTimer: NodeJS.Timeout | undefined;
  #deletionsTimer: NodeJS.Timeout | undefined;

  /** `onDue`: no commit has taken the changes in time. */
  constructor(onDue: () => void) {
    this.#onDue = onDue;
  }

  get isEmpty(): boolean {
    const { journal_entries, deleted_journal_ids } = this.#waiting;
    return journal_entries.length + deleted_journal_ids.length === 0;
  }

  add({ journal_entries, deleted_journal_ids }: DeferredChange): void {
    this.#waiting.journal_entries.push(...journal_entries);
    this.#waiting.deleted_journal_ids.push(...deleted_journal_ids);
  }

  startTimer(): void {
    if (this.isEmpty) return;
    if (this.#waiting.journal_entries.length > 0) this.#entriesTimer ??= setTimeout(this.#onDue, ENTRIES_MS);
    else this.#deletionsTimer ??= setTimeout(this.#onDue, DELETIONS_MS);
  }

  take(): DeferredChange {
    const taken = this.#waiting;
    this.#waiting = { journal_entries: [], deleted_journal_ids: [] };
    this.stopTimer();
    return taken;
  }

  stopTimer(): void {
    clearTimeout(this.#entriesTimer);
    clearTimeout(this.#deletionsTimer);
    this.#entriesTimer = undefined;
    this.#deletionsTimer = undefined;
  }
}
