import { useEffect, useRef, useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../components/action-button.tsx";
import { Facts } from "../components/facts.tsx";
import { CheckField } from "../components/fields/check-field.tsx";
import { readLetterKeys, saveLetterKeys } from "../preferences.ts";

/** What a key does. Returns false when it does nothing now, so that the browser's own use of the key stays. */
type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => unknown>>;

/** Keys of the page, named as in `KeyboardEvent.key`, with `Alt+` before it. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => onShortcut(() => latest.current), []);
}

/** Returns what ends it. */
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

const KEYS = [
  ["search", ["/"]],
  ["chats", ["J", "K"]],
  ["open", ["Enter"]],
  ["unread", ["Alt+↓", "Alt+↑"]],
  ["close", ["Esc"]],
  ["list", ["?"]],
] as const;

/** The list of all shortcuts, and those that work on every page. */
export function ShortcutSheet() {
  const t = useTranslations("shortcuts");
  const close = useTranslations("common")("close");
  const [isOpen, setOpen] = useState(false);
  const [hasLetters, setLetters] = useState(readLetterKeys);
  useShortcuts({
    "?": () => setOpen(true),
    "/": focusSearch,
  });
  const change = (next: boolean) => {
    saveLetterKeys(next);
    setLetters(next);
  };
  return (
    <ModalOverlay isDismissable isOpen={isOpen} onOpenChange={setOpen} className="veil">
      <Modal className="dialog">
        <Dialog>
          <div className="stack">
            <Heading slot="title">{t("title")}</Heading>
            <Facts
              facts={KEYS.map(([name, keys]) => ({
                name: t(name),
                value: keys.map((key) => <kbd key={key}>{key}</kbd>),
              }))}
            />
            <CheckField
              label={t("letters")}
              hint={t("lettersHint")}
              isSelected={hasLetters}
              onChange={change}
            />
            <div className="buttons">
              <ActionButton onPress={() => setOpen(false)}>{close}</ActionButton>
            </div>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
