import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { AdminOnly } from "../../components/admin-only.tsx";
import { ConfirmDialog } from "../../components/dialogs/confirm-dialog.tsx";
import { ErrorNotice, Notice } from "../../components/error-notice.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { LoadingState, SectionHeader } from "../../components/page-header.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { AreaTexts } from "../../shell/area-texts.tsx";
import { NotFoundPage } from "../not-found-page.tsx";
import { IntegrationForm, useSaveIntegration } from "./integration-form.tsx";
import { IntegrationPill, IntegrationSentence, LastError } from "./integration-state.tsx";
import "./integrations.css";
import { CodeSample } from "../../components/code-sample.tsx";
import {
  type Integration,
  integrationsQuery,
  PROVIDER_NAMES,
  PROVIDERS,
  type Provider,
  type TestReport,
} from "./integrations-queries.ts";

export function IntegrationPage() {
  const { provider } = useParams({ from: "/shell/instances/$id/integrations/$provider" });
  const known = PROVIDERS.find((one) => one === provider);
  if (known === undefined) return <NotFoundPage />;
  return (
    <AreaTexts area="integrations">
      <AdminOnly>
        <OneIntegration key={known} provider={known} />
      </AdminOnly>
    </AreaTexts>
  );
}

function OneIntegration({ provider }: { provider: Provider }) {
  const t = useTranslations("integrations");
  const { id } = useParams({ from: "/shell/instances/$id" });
  const { data, error, refetch } = useQuery(integrationsQuery(id));
  const integration = data?.find((one) => one.provider === provider);
  const save = useSaveIntegration({ id, provider, isNew: integration === undefined });
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  return (
    <>
      <SectionHeader
        title={PROVIDER_NAMES[provider]}
        lead={t(`${provider}.purpose`)}
        breadcrumbs={
          <Link to="/instances/$id/integrations" params={{ id }}>
            {t("title")}
          </Link>
        }
      >
        <IntegrationPill integration={integration} />
      </SectionHeader>
      <Warnings warnings={save.data?.warnings ?? []} />
      {integration ? <Saved id={id} integration={integration} /> : <SetupSteps provider={provider} />}
      <IntegrationForm
        key={integration?.updated_at}
        provider={provider}
        saved={integration?.config}
        save={save}
      />
    </>
  );
}

/** Likely problems of the saved configuration. */
function Warnings({ warnings }: { warnings: readonly string[] }) {
  const t = useTranslations("integrations");
  if (warnings.length === 0) return null;
  return (
    <Notice tone="warning" title={t("warnings")} isUrgent>
      <ul className="dots">
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </Notice>
  );
}

/** Setup steps in the other program. */
function SetupSteps({ provider }: { provider: Provider }) {
  const t = useTranslations("integrations");
  return (
    <section className="card">
      <h3>{t("before", { name: PROVIDER_NAMES[provider] })}</h3>
      <ol className="steps">
        {(["one", "two", "three"] as const).map((step) => (
          <li key={step}>
            <span>{t(`${provider}.steps.${step}`)}</span>
          </li>
        ))}
      </ol>
      <p>
        <a href={`/docs/waygate/${provider}`}>{t("guide", { name: PROVIDER_NAMES[provider] })}</a>
      </p>
    </section>
  );
}

function Saved({ id, integration }: { id: number; integration: Integration }) {
  const t = useTranslations("integrations");
  const { provider, last_success_at, paused_chats } = integration;
  return (
    <>
      <section className="card">
        <IntegrationSentence integration={integration} />
        <LastError integration={integration} />
        {last_success_at !== null && (
          <p className="hint">
            {t.rich("lastSuccess", { when: () => <RelativeTime at={last_success_at} /> })}
          </p>
        )}
        {paused_chats.length > 0 && (
          <>
            <h4>{t("pausedChats")}</h4>
            <ul className="dots">
              {paused_chats.map(({ chat }) => (
                <li key={chat} className="code">
                  {chat}
                </li>
              ))}
            </ul>
            <p className="hint">{t("pausedChatsHelp")}</p>
          </>
        )}
        <Actions id={id} integration={integration} />
        <p>
          <a href={`/docs/waygate/${provider}`}>{t("guide", { name: PROVIDER_NAMES[provider] })}</a>
        </p>
      </section>
      <IntegrationTest id={id} provider={provider} />
    </>
  );
}

function Actions({ id, integration: { provider, enabled } }: { id: number; integration: Integration }) {
  const t = useTranslations();
  const name = PROVIDER_NAMES[provider];
  const queries = useQueryClient();
  const navigate = useNavigate();
  const onSettled = () => queries.invalidateQueries({ queryKey: ["instances", id] });
  const toggle = useMutation({
    mutationFn: () => gateway.saveIntegration({ id, provider, enabled: !enabled }),
    onSuccess: () => showToast(t(enabled ? "integrations.switchedOff" : "integrations.switchedOn", { name })),
    onSettled,
  });
  const remove = useMutation({
    mutationFn: () => gateway.deleteIntegration({ id, provider }),
    onSuccess: async () => {
      showToast(t("integrations.removed", { name }));
      await navigate({ to: "/instances/$id/integrations", params: { id }, ignoreBlocker: true });
    },
    onSettled,
  });
  return (
    <>
      <ErrorNotice error={toggle.error ?? remove.error} />
      <div className="buttons">
        <ActionButton isPending={toggle.isPending} onPress={() => toggle.mutate()}>
          {t(enabled ? "integrations.switchOff" : "integrations.switchOn")}
        </ActionButton>
        <ConfirmDialog
          label={t("common.delete")}
          title={t("integrations.deleteTitle", { name })}
          consequence={t(`integrations.${provider}.deleteHelp`)}
          confirmLabel={t("integrations.deleteConfirm")}
          onConfirm={() => remove.mutate()}
        />
      </div>
    </>
  );
}

/** Sends one test request and explains the response. */
function IntegrationTest({ id, provider }: { id: number; provider: Provider }) {
  const t = useTranslations("integrations.test");
  const name = PROVIDER_NAMES[provider];
  const queries = useQueryClient();
  const test = useMutation({
    mutationFn: async () => (await gateway.testIntegration({ id, provider })).data,
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  return (
    <section className="card">
      <h3>{t("title")}</h3>
      <p>{t(provider)}</p>
      <div className="buttons">
        <ActionButton kind="primary" isPending={test.isPending} onPress={() => test.mutate()}>
          {test.isPending ? t("running") : t("run", { name })}
        </ActionButton>
      </div>
      <ErrorNotice error={test.error} />
      {test.data && <Report report={test.data} name={name} />}
    </section>
  );
}

function Report({ report, name }: { report: TestReport; name: string }) {
  const t = useTranslations("integrations.test");
  const { success, message, status_code, duration_ms, details } = report;
  const duration = Math.round(duration_ms);
  const answered =
    status_code === null
      ? t("unanswered", { name })
      : t("answered", { name, status: String(status_code), duration });
  return (
    <>
      <Notice tone={success ? "success" : "danger"} isUrgent title={t(success ? "ok" : "failed", { name })}>
        <p>{message}</p>
        <p className="hint">{answered}</p>
      </Notice>
      {Object.keys(details).length > 0 && (
        <details>
          <summary>{t("details")}</summary>
          <CodeSample text={JSON.stringify(details, null, 2)} label={t("details")} />
        </details>
      )}
    </>
  );
}
