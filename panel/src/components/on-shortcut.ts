import { readLetterKeys } from "../preferences.ts";

/** Returns false if the key does nothing now, which leaves it to the browser. */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => unknown>>;

/** Handles keys, named as in `KeyboardEvent.key` with an optional prefix `Alt+`. Returns the unsubscribe function. */
export function onShortcut(read: () => Shortcuts): () => void {
  const press = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey) return;
    const act = read()[event.altKey ? `Alt+${event.key}` : event.key];
    if (act === undefined || !isFree(event) || act(event) === false) return;
    event.preventDefault();
  };
  document.addEventListener("keydown", press);
  return () => document.removeEventListener("keydown", press);
}

/** Returns false if the page has no search field. */
export function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>("main input[type='search']");
  field?.focus();
  return field !== null;
}

/** Dialogs keep all keys, and fields keep letters. Letters can be switched off for speech input, which types them. */
function isFree({ key, altKey, target }: KeyboardEvent): boolean {
  const at = target instanceof Element ? target : document.body;
  if (at.closest("[role='dialog'], [role='alertdialog']") !== null) return false;
  if (altKey) return true;
  if (key.length === 1) return at.closest("input, textarea, select") === null && readLetterKeys();
  return at.closest("input, select") === null;
}
