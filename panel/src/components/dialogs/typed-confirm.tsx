import { type ReactNode, useState } from "react";
import {
  Dialog,
  DialogTrigger,
  Form,
  Heading,
  Input,
  Label,
  Modal,
  ModalOverlay,
  TextField,
} from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../action-button.tsx";
import { ErrorNotice } from "../error-notice.tsx";

interface TypedConfirmProps {
  /** Text of the button that opens the dialog. */
  label: string;
  title: string;
  consequence: ReactNode;
  /** The text that the user must type. */
  word: string;
  confirmLabel: string;
  /** The dialog closes when the promise resolves, and shows the error when it rejects. */
  onConfirm(): Promise<unknown>;
  mutation: { isPending: boolean; error: unknown; reset(): void };
}

/** Confirms a large irreversible action: the user types the name of its target. */
export function TypedConfirm({ label, ...props }: TypedConfirmProps) {
  return (
    <DialogTrigger onOpenChange={() => props.mutation.reset()}>
      <ActionButton kind="danger">{label}</ActionButton>
      <ModalOverlay isDismissable className="backdrop">
        <Modal className="dialog">
          <Dialog role="alertdialog">{({ close }) => <TypedForm {...props} close={close} />}</Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}

function TypedForm(props: Omit<TypedConfirmProps, "label"> & { close(): void }) {
  const t = useTranslations();
  const { title, consequence, word, confirmLabel, onConfirm, mutation, close } = props;
  const [typed, setTyped] = useState("");
  const isRight = typed.trim() === word;
  return (
    <Form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isRight) void onConfirm().then(close, () => {});
      }}
    >
      <Heading slot="title">{title}</Heading>
      <ErrorNotice error={mutation.error} />
      <div className="stack">{consequence}</div>
      <TextField className="field" value={typed} onChange={setTyped} autoComplete="off">
        <Label>{t("shell.typeToConfirm", { word })}</Label>
        <Input autoCapitalize="none" spellCheck={false} />
      </TextField>
      <div className="buttons">
        <ActionButton kind="danger" type="submit" isDisabled={!isRight} isPending={mutation.isPending}>
          {confirmLabel}
        </ActionButton>
        <ActionButton onPress={close}>{t("common.cancel")}</ActionButton>
      </div>
    </Form>
  );
}
