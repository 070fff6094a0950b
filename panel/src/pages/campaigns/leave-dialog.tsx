import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";

/** Asks whether a draft may be lost. */
export function LeaveDialog({ onStay, onLeave }: { onStay(): void; onLeave(): void }) {
  const t = useTranslations("campaigns");
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
