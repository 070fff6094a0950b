import { readLetterKeys } from "../preferences.ts";

/** What a key does. Returns false when it does nothing now, so that the browser's own use of the key stays. */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => unknown>>;

/** Acts on keys of the page, named as in `KeyboardEvent.key`, with `Alt+` before it. Returns what ends it. */
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

/** False: the page has no search. */
export function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>("main input[type='search']");
  field?.focus();
  return field !== null;
}

/** A dialog keeps all keys, and a field its letters. Speech input types letters, so they can be switched off. */
function isFree({ key, altKey, target }: KeyboardEvent): boolean {
  const at = target instanceof Element ? target : document.body;
  if (at.closest("[role='dialog'], [role='alertdialog']") !== null) return false;
  if (altKey) return true;
  if (key.length === 1) return at.closest("input, textarea, select") === null && readLetterKeys();
  return at.closest("input, select") === null;
}
