import { type FormEvent, type ReactNode, useState } from "react";
import { Dialog, DialogTrigger, Form, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../action-button.tsx";
import { ErrorNotice, useRequestError } from "../error-notice.tsx";
import { readForm } from "../fields/read-search.ts";
import { LeaveDialog, UnsavedGuard, useEntered } from "./unsaved-guard.tsx";

interface FormDialogProps {
  /** Text of the button that opens the dialog. */
  label: string;
  kind?: "primary" | "secondary" | "link";
  title: string;
  submitLabel: string;
  children: ReactNode;
  /**
   * Receives the text fields by name. The dialog closes when the promise resolves, and shows the error when it
   * rejects.
   */
  onSubmit(fields: Partial<Record<string, string>>): Promise<unknown>;
  mutation: { isPending: boolean; error: unknown; reset(): void };
  /** Asks before it discards what the user entered. */
  isGuarded?: boolean;
  /** Whether the user changed a control that is not a form field. */
  isChosen?: boolean;
}

/** A form in a dialog. Field errors are shown at their fields, other errors above them. */
export function FormDialog(props: FormDialogProps) {
  const { label, kind = "secondary", title, submitLabel, children, onSubmit, mutation } = props;
  const t = useTranslations("common");
  const { fields } = useRequestError(mutation.error);
  const { isOpen, change, close, listener, guard } = useGuardedOpen(props);
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    await onSubmit(readForm(event.currentTarget)).then(close, () => {});
  };
  return (
    <>
      <DialogTrigger isOpen={isOpen} onOpenChange={change}>
        <ActionButton kind={kind}>{label}</ActionButton>
        <ModalOverlay isDismissable className="backdrop">
          <Modal className="dialog">
            <Dialog>
              <Form className="stack" validationErrors={fields} onSubmit={send} {...listener}>
                <Heading slot="title">{title}</Heading>
                {Object.keys(fields).length === 0 && <ErrorNotice error={mutation.error} />}
                {children}
                <div className="buttons">
                  <ActionButton kind="primary" type="submit" isPending={mutation.isPending}>
                    {submitLabel}
                  </ActionButton>
                  <ActionButton onPress={() => change(false)}>{t("cancel")}</ActionButton>
                </div>
              </Form>
            </Dialog>
          </Modal>
        </ModalOverlay>
      </DialogTrigger>
      {guard}
    </>
  );
}

/** A guarded dialog asks before it discards what the user entered. */
function useGuardedOpen({ mutation, isGuarded = false, isChosen = false }: FormDialogProps) {
  const [isOpen, setOpen] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const { isEntered, clear, listener } = useEntered();
  const isDirty = isGuarded && (isEntered || isChosen);
  const show = (next: boolean) => {
    mutation.reset();
    clear();
    setAsking(false);
    setOpen(next);
  };
  const change = (next: boolean) => (isDirty && !next ? setAsking(true) : show(next));
  const close = () => show(false);
  const guard = (
    <>
      <UnsavedGuard isDirty={isDirty} />
      {isAsking && <LeaveDialog onStay={() => setAsking(false)} onLeave={close} />}
    </>
  );
  return { isOpen, change, close, listener, guard };
}
