import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef } from "react";
import { Dialog, Form, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTranslations } from "use-intl";
import { toSignInSearch } from "../../gateway/access.ts";
import { readSession, type Signed, signIn } from "../../gateway/gateway.ts";
import { sessionQuery } from "../../gateway/queries.ts";
import {
  type Reauthentication,
  sessionReauthentication,
  useReauthentication,
} from "../../gateway/reauthentication.ts";
import { onSignInElsewhere } from "../../gateway/sign-in-channel.ts";
import { useAccess } from "../../gateway/use-access.ts";
import { ActionButton } from "../action-button.tsx";
import { FormField } from "../fields/form-field.tsx";
import { readForm } from "../fields/read-search.ts";
import { SignInError } from "../sign-in-error.tsx";

/** Asks for a new sign-in above the page, which keeps what the user typed. */
export function SessionDialog() {
  const reauthentication = useReauthentication(sessionReauthentication);
  return (
    <ModalOverlay isOpen={reauthentication !== undefined} isKeyboardDismissDisabled className="backdrop">
      <Modal className="dialog">
        {reauthentication && <SessionForm reauthentication={reauthentication} />}
      </Modal>
    </ModalOverlay>
  );
}

function SessionForm({ reauthentication }: { reauthentication: Reauthentication }) {
  const t = useTranslations();
  const { signed } = useAccess();
  const goOn = useGoOn(reauthentication);
  const enter = useMutation({ mutationFn: signIn, onSuccess: goOn });
  useSignInElsewhere(signed, goOn);
  const leave = useLeave();
  const email = signed?.user.email ?? "";
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { password = "" } = readForm(event.currentTarget);
    enter.mutate({ email, password, ...(signed && { account_id: signed.account.id }) });
  };
  return (
    <Dialog>
      <Form className="stack" onSubmit={submit}>
        <Heading slot="title">{t("shell.sessionTitle")}</Heading>
        <p>{t("connection.sessionEnded")}</p>
        <SignInError error={enter.error} />
        <FormField
          name="email"
          type="email"
          label={t("signIn.email")}
          autoComplete="username"
          value={email}
          isReadOnly
        />
        <FormField
          name="password"
          type="password"
          label={t("signIn.password")}
          autoComplete="current-password"
          hasFocus
        />
        <div className="buttons">
          <ActionButton kind="primary" type="submit" isPending={enter.isPending}>
            {t("signIn.submit")}
          </ActionButton>
          <ActionButton onPress={leave}>{t("shell.sessionOther")}</ActionButton>
        </div>
      </Form>
    </Dialog>
  );
}

/** Repeats the refused requests and refetches everything on the page. */
function useGoOn(reauthentication: Reauthentication) {
  const queries = useQueryClient();
  return (signed: Signed) => {
    queries.setQueryData(sessionQuery.queryKey, signed);
    reauthentication.finish(true);
    void queries.invalidateQueries();
  };
}

/** Continues when the same user has signed in in another tab. Never shows one user's page to another. */
function useSignInElsewhere(before: Signed | undefined, goOn: (signed: Signed) => void): void {
  const latest = useRef({ before, goOn });
  latest.current = { before, goOn };
  useEffect(() => {
    let isShown = true;
    const check = async () => {
      const signed = await readSession().catch(() => undefined);
      const { before, goOn } = latest.current;
      if (isShown && signed !== undefined && signed.user.id === before?.user.id) goOn(signed);
    };
    const stop = onSignInElsewhere(() => void check());
    return () => {
      isShown = false;
      stop();
    };
  }, []);
}

/** Goes to the sign-in page for another user and discards what was typed. */
function useLeave() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  return async () => {
    const search = toSignInSearch(router.state.location.href);
    await navigate({ to: "/sign-in", search, ignoreBlocker: true });
    queries.clear();
  };
}
