import { useEffect, useRef, useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../components/action-button.tsx";
import { DescriptionList } from "../components/description-list.tsx";
import { CheckField } from "../components/fields/check-field.tsx";
import { focusSearch, onShortcut, type Shortcuts } from "../components/on-shortcut.ts";
import { readLetterKeys, saveLetterKeys } from "../preferences.ts";

/** Keys as in `KeyboardEvent.key`, with an optional prefix `Alt+`. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => onShortcut(() => latest.current), []);
}

const KEYS = [
  ["search", ["/"]],
  ["chats", ["J", "K"]],
  ["open", ["Enter"]],
  ["unread", ["Alt+↓", "Alt+↑"]],
  ["close", ["Esc"]],
  ["list", ["?"]],
] as const;

/** The list of all shortcuts, with those that work on every page. */
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
    <ModalOverlay isDismissable isOpen={isOpen} onOpenChange={setOpen} className="backdrop">
      <Modal className="dialog">
        <Dialog>
          <div className="stack">
            <Heading slot="title">{t("title")}</Heading>
            <DescriptionList
              items={KEYS.map(([name, keys]) => ({
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
