import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../../packages/client/src/waygate-error.ts";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { ErrorNotice, Notice } from "../../components/error-notice.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { readForm } from "../../components/fields/read-search.ts";
import { LoadingState, PageHeader } from "../../components/page-header.tsx";
import { refusalsOf, useGatewayTexts } from "../../components/use-gateway-texts.ts";
import { gateway, keepSession } from "../../gateway/gateway.ts";
import { sessionQuery } from "../../gateway/queries.ts";
import { toRequestError } from "../../gateway/to-request-error.ts";
import { EntryFrame, MemoryHint } from "../../shell/entry-frame.tsx";

/** Opened by the link that the gateway prints at its first start. */
export function WelcomePage() {
  const t = useTranslations("welcome");
  const link = useQuery({
    queryKey: ["session", "welcome"],
    queryFn: async () => (await gateway.readWelcomeLink({ token: welcomeToken ?? "" })).data,
    enabled: welcomeToken !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const isInvalid = welcomeToken === undefined || isRefused(link.error);
  return (
    <EntryFrame>
      <PageHeader title={t("title")} lead={isInvalid ? undefined : t("lead")} />
      {isInvalid ? (
        <InvalidLink isMissing={welcomeToken === undefined} />
      ) : (
        <ErrorNotice error={link.error} />
      )}
      {link.data ? <PasswordForm email={link.data.email} /> : link.isFetching && <LoadingState />}
    </EntryFrame>
  );
}

function InvalidLink({ isMissing }: { isMissing: boolean }) {
  const t = useTranslations("welcome");
  return (
    <>
      <Notice tone="info">
        <p>{isMissing ? t("missing") : t("invalid")}</p>
      </Notice>
      <p className="hint">{t("another")}</p>
      <div className="buttons">
        <LinkButton to="/sign-in" kind="primary">
          {t("signIn")}
        </LinkButton>
      </div>
    </>
  );
}

function PasswordForm({ email }: { email: string }) {
  const t = useTranslations("welcome");
  const texts = useGatewayTexts();
  const welcome = useWelcome();
  const problem = refusalsOf(toRequestError(welcome.error).details).find(
    ({ field }) => field === "new_password",
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { password = "" } = readForm(event.currentTarget);
    welcome.mutate(password);
  };
  return (
    <>
      {isRefused(welcome.error) && <InvalidLink isMissing={false} />}
      {problem === undefined && !isRefused(welcome.error) && <ErrorNotice error={welcome.error} />}
      {problem !== undefined && (
        <Notice tone="danger" isUrgent>
          <p>
            {problem.code === "weak_password" ? t("weak") : t("reason", { reason: texts.issue(problem) })}
          </p>
        </Notice>
      )}
      <Form className="stack" onSubmit={submit}>
        {/* Lets password managers store the user name. */}
        <FormField
          name="email"
          type="email"
          label={t("email")}
          autoComplete="username"
          defaultValue={email}
          isReadOnly
        />
        <FormField
          name="password"
          type="password"
          label={t("password")}
          hint={t("rule")}
          autoComplete="new-password"
          maxLength={1024}
        />
        <ActionButton kind="primary" type="submit" isPending={welcome.isPending}>
          {t("submit")}
        </ActionButton>
      </Form>
      <MemoryHint />
    </>
  );
}

function useWelcome() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async (new_password: string) => {
      const signed = await gateway.setFirstPassword({ token: welcomeToken ?? "", new_password });
      await keepSession(signed.data.token);
      return signed.data;
    },
    onSuccess: async ({ account, user }) => {
      queries.clear();
      queries.setQueryData(sessionQuery.queryKey, { account, user });
      await navigate({ to: "/instances", replace: true });
    },
  });
}

function isRefused(error: unknown): boolean {
  return error instanceof WaygateError && error.code === "INVALID_TOKEN";
}

const PATH = /\/welcome\/?$/;

/** Reads the secret from the fragment, which browsers never send, and removes it from the address bar and history. */
function takeToken(): string | undefined {
  const { pathname, hash } = location;
  if (!PATH.test(pathname) || hash.length < 2) return undefined;
  history.replaceState(history.state, "", pathname);
  return hash.slice(1);
}

/** Read before the router changes the address. */
const welcomeToken = takeToken();
