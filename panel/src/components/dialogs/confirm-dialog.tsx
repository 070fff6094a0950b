import { Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../action-button.tsx";

interface ConfirmDialogProps {
  /** Text of the button that opens the dialog. */
  label: string;
  kind?: "primary" | "secondary" | "link";
  title: string;
  consequence: string;
  confirmLabel: string;
  /** Needed where "Cancel" could be read as the action itself. */
  backLabel?: string;
  onConfirm(): void;
}

/** Asks before an action that cannot be undone. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { label, kind = "secondary", title, consequence, confirmLabel, backLabel, onConfirm } = props;
  const t = useTranslations("common");
  return (
    <DialogTrigger>
      <ActionButton kind={kind}>{label}</ActionButton>
      <ModalOverlay isDismissable className="backdrop">
        <Modal className="dialog">
          <Dialog role="alertdialog">
            {({ close }) => (
              <>
                <Heading slot="title">{title}</Heading>
                <p>{consequence}</p>
                <div className="buttons">
                  <ActionButton
                    kind={kind === "primary" ? "primary" : "danger"}
                    onPress={() => [close(), onConfirm()]}
                  >
                    {confirmLabel}
                  </ActionButton>
                  <ActionButton onPress={close}>{backLabel ?? t("cancel")}</ActionButton>
                </div>
              </>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
