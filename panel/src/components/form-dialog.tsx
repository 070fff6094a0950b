import type { FormEvent, ReactNode } from "react";
import { Dialog, DialogTrigger, Form, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTranslations } from "use-intl";
import { readForm } from "../api/read-form.ts";
import { ActionButton } from "./action-button.tsx";
import { FaultNotice } from "./fault-notice.tsx";
import { useFault } from "./use-fault.ts";

interface FormDialogProps {
  /** On the button that opens the dialog. */
  label: string;
  kind?: "main" | "plain" | "bare";
  title: string;
  submitLabel: string;
  /** The fields of the form. */
  children: ReactNode;
  /** Gets the text fields by name. The dialog closes when it resolves, and shows why it rejects. */
  onSubmit(fields: Partial<Record<string, string>>): Promise<unknown>;
  mutation: { isPending: boolean; error: unknown; reset(): void };
}

/** A form in a dialog. Errors of fields stand at their fields, others above them. */
export function FormDialog(props: FormDialogProps) {
  const t = useTranslations("common");
  const { label, kind = "plain", title, submitLabel, children, onSubmit, mutation } = props;
  const { fields } = useFault(mutation.error);
  const send = async (event: FormEvent<HTMLFormElement>, close: () => void) => {
    event.preventDefault();
    await onSubmit(readForm(event.currentTarget)).then(close, () => {});
  };
  return (
    <DialogTrigger onOpenChange={() => mutation.reset()}>
      <ActionButton kind={kind}>{label}</ActionButton>
      <ModalOverlay isDismissable className="veil">
        <Modal className="dialog">
          <Dialog>
            {({ close }) => (
              <Form className="stack" validationErrors={fields} onSubmit={(event) => void send(event, close)}>
                <Heading slot="title">{title}</Heading>
                {Object.keys(fields).length === 0 && <FaultNotice error={mutation.error} />}
                {children}
                <div className="buttons">
                  <ActionButton kind="main" type="submit" isPending={mutation.isPending}>
                    {submitLabel}
                  </ActionButton>
                  <ActionButton onPress={close}>{t("cancel")}</ActionButton>
                </div>
              </Form>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
