import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useMemo } from "react";
import { Dialog, Form, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { gateway } from "../api/gateway.ts";
import { passwordQuestion } from "../api/password-question.ts";
import type { Question } from "../api/question.ts";
import { readForm } from "../api/read-form.ts";
import { useQuestion } from "../api/use-question.ts";
import { ActionButton } from "./action-button.tsx";
import { FaultNotice } from "./fault-notice.tsx";
import { FormField } from "./form-field.tsx";

/** Asks for the password when a request needs it again. Once in the frame of all pages. */
export function PasswordDialog() {
  const question = useQuestion(passwordQuestion);
  const isOpen = question !== undefined;
  return (
    <ModalOverlay
      isOpen={isOpen}
      isDismissable
      onOpenChange={(next) => !next && question?.answer(false)}
      className="veil"
    >
      <Modal className="dialog">{question && <PasswordForm question={question} />}</Modal>
    </ModalOverlay>
  );
}

const NO_FAULTS: Record<string, string> = {};

function PasswordForm({ question }: { question: Question }) {
  const t = useTranslations();
  const confirm = useMutation({
    mutationFn: (password: string) => gateway.confirmPassword({ password }),
    onSuccess: () => question.answer(true),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    confirm.mutate(readForm(event.currentTarget).password ?? "");
  };
  const isWrong = confirm.error instanceof WaygateError && confirm.error.code === "INVALID_CREDENTIALS";
  const wrong = t("shell.passwordWrong");
  const faults = useMemo(() => (isWrong ? { password: wrong } : NO_FAULTS), [isWrong, wrong]);
  return (
    <Dialog>
      <Form className="stack" onSubmit={submit} validationErrors={faults}>
        <Heading slot="title">{t("shell.passwordTitle")}</Heading>
        <p>{t("shell.passwordHelp")}</p>
        {!isWrong && <FaultNotice error={confirm.error} />}
        <FormField
          name="password"
          type="password"
          label={t("signIn.password")}
          autoComplete="current-password"
        />
        <div className="buttons">
          <ActionButton kind="main" type="submit" isPending={confirm.isPending}>
            {t("shell.passwordConfirm")}
          </ActionButton>
          <ActionButton onPress={() => question.answer(false)}>{t("common.cancel")}</ActionButton>
        </div>
      </Form>
    </Dialog>
  );
}
