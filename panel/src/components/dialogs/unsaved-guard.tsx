import { useBlocker } from "@tanstack/react-router";
import { useEffect, useId, useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../action-button.tsx";

/** The forms of the page with something to lose. The first of them asks for all, so that one question is enough. */
const unsaved = new Set<string>();

export function hasUnsaved(): boolean {
  return unsaved.size > 0;
}

/** Asks before what is not saved is lost, by another page or a reload. After a save, navigate with `ignoreBlocker`. */
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

/** Asks whether what is not saved may be lost. */
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

/** For a form whose fields keep their own values: whether something was entered since it was shown or saved. */
export function useEntered() {
  const [isEntered, setEntered] = useState(false);
  const enter = () => setEntered(true);
  return {
    isEntered,
    /** For a checkbox, which reports nothing to its form. */
    enter,
    clear: () => setEntered(false),
    /** Of the form. */
    listener: { onInput: enter },
  };
}
