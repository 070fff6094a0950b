import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "./action-button.tsx";

/** Asks whether what is not saved may be lost. */
export function LeaveDialog({ onStay, onLeave }: { onStay(): void; onLeave(): void }) {
  const t = useTranslations("common");
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={(isOpen) => !isOpen && onStay()} className="veil">
      <Modal className="dialog">
        <Dialog role="alertdialog">
          <Heading slot="title">{t("leaveTitle")}</Heading>
          <p>{t("leaveHelp")}</p>
          <div className="buttons">
            <ActionButton kind="stop" onPress={onLeave}>
              {t("leave")}
            </ActionButton>
            <ActionButton onPress={onStay}>{t("stay")}</ActionButton>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
