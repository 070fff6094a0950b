import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../../packages/client/src/waygate-error.ts";
import { gateway, keepSession } from "../../api/gateway.ts";
import { sessionQuery } from "../../api/queries.ts";
import { readForm } from "../../api/read-form.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { FormField } from "../../components/form-field.tsx";
import { Notice } from "../../components/notice.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { GateFrame } from "../../shell/gate-frame.tsx";
import { MemoryHint } from "./memory-hint.tsx";

export function SignInPage() {
  const t = useTranslations("signIn");
  const signIn = useSignIn();
  const { to } = useSearch({ from: "/sign-in" });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { email = "", password = "" } = readForm(event.currentTarget);
    signIn.mutate({ email, password });
  };
  return (
    <GateFrame>
      <PageHead title={t("title")} />
      {to !== undefined && signIn.isIdle && (
        <Notice tone="note">
          <p>{t("signedOut")}</p>
        </Notice>
      )}
      <SignInFault error={signIn.error} />
      <Form className="stack" onSubmit={submit}>
        <FormField name="email" type="email" label={t("email")} autoComplete="username" />
        <FormField name="password" type="password" label={t("password")} autoComplete="current-password" />
        <ActionButton kind="main" type="submit" isPending={signIn.isPending}>
          {t("submit")}
        </ActionButton>
      </Form>
      <p className="hint">{t("help")}</p>
      <MemoryHint />
    </GateFrame>
  );
}

function useSignIn() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { to } = useSearch({ from: "/sign-in" });
  return useMutation({
    mutationFn: async (input: { email: string; password: string }) => {
      const signed = await gateway.login(input);
      await keepSession(signed.data.token);
      return signed;
    },
    onSuccess: async ({ data: { account, user } }) => {
      queries.clear();
      queries.setQueryData(sessionQuery.queryKey, { account, user });
      await navigate({ href: to ?? "/" });
    },
  });
}

function SignInFault({ error }: { error: unknown }) {
  const t = useTranslations("signIn");
  if (!(error instanceof WaygateError)) return <FaultNotice error={error} />;
  const { code, retryAfterSeconds } = error;
  const text =
    code === "INVALID_CREDENTIALS"
      ? t("wrong")
      : code === "ACCOUNT_RESTRICTED"
        ? t("restricted")
        : retryAfterSeconds !== undefined
          ? t("tooMany", { seconds: retryAfterSeconds })
          : undefined;
  if (text === undefined) return <FaultNotice error={error} />;
  return (
    <Notice tone="stop" isUrgent>
      <p>{text}</p>
    </Notice>
  );
}
