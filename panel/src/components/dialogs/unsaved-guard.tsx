import { useBlocker } from "@tanstack/react-router";
import { useEffect, useId, useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../action-button.tsx";

/** The dirty forms of the page. Only the first one asks, for all of them. */
const unsaved = new Set<string>();

export function hasUnsaved(): boolean {
  return unsaved.size > 0;
}

/** Asks before navigation or a reload discards unsaved changes. After a save, navigate with `ignoreBlocker`. */
export function UnsavedGuard({ isDirty }: { isDirty: boolean }) {
  const id = useId();
  useEffect(() => {
    if (!isDirty) return;
    unsaved.add(id);
    return () => void unsaved.delete(id);
  }, [id, isDirty]);
  const blocker = useBlocker({
    shouldBlockFn: () => [...unsaved][0] === id,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  return <LeaveDialog onStay={blocker.reset} onLeave={blocker.proceed} />;
}

export function LeaveDialog({ onStay, onLeave }: { onStay(): void; onLeave(): void }) {
  const t = useTranslations("common");
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={(isOpen) => !isOpen && onStay()} className="backdrop">
      <Modal className="dialog">
        <Dialog role="alertdialog">
          <Heading slot="title">{t("leaveTitle")}</Heading>
          <p>{t("leaveHelp")}</p>
          <div className="buttons">
            <ActionButton kind="danger" onPress={onLeave}>
              {t("leave")}
            </ActionButton>
            <ActionButton onPress={onStay}>{t("stay")}</ActionButton>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** For an uncontrolled form: whether the user entered something since it was shown or saved. */
export function useEntered() {
  const [isEntered, setEntered] = useState(false);
  const enter = () => setEntered(true);
  return {
    isEntered,
    /** For a checkbox, which fires no `input` event on its form. */
    enter,
    clear: () => setEntered(false),
    /** Props of the form. */
    listener: { onInput: enter },
  };
}
