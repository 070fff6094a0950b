import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useFormatter, useTranslations } from "use-intl";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { CodeSample } from "../../components/code-sample.tsx";
import { DescriptionList } from "../../components/description-list.tsx";
import { ConfirmDialog } from "../../components/dialogs/confirm-dialog.tsx";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { ErrorNotice, Notice } from "../../components/error-notice.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { LoadingState, SectionHeader } from "../../components/page-header.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { NotFoundPage } from "../not-found-page.tsx";
import { CodeSamples } from "./code-samples.tsx";
import { BackToWebhooks } from "./new-webhook-page.tsx";
import { RecoverPanel } from "./recover-panel.tsx";
import { WebhookPlots } from "./webhook-plots.tsx";
import { stateOf, WebhookPill, WebhookSentence } from "./webhook-state.tsx";
import { WebhookTest } from "./webhook-test.tsx";
import { LastFailure } from "./webhooks-page.tsx";
import { type Webhook, webhooksQuery } from "./webhooks-queries.ts";

export function WebhookPage() {
  const { id, webhookId } = useParams({ from: "/shell/instances/$id/webhooks/$webhookId" });
  const { period = "day" } = useSearch({ from: "/shell/instances/$id/webhooks/$webhookId" });
  const { data, error, refetch } = useQuery(webhooksQuery(id));
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const webhook = data.find((one) => one.id === webhookId);
  if (!webhook) return <NotFoundPage />;
  const hasTrouble = ["failing", "stopped"].includes(stateOf(webhook));
  return (
    <>
      <SectionHeader
        title={webhook.name}
        lead={<span className="address">{webhook.url}</span>}
        breadcrumbs={<BackToWebhooks id={id} />}
      >
        <WebhookPill webhook={webhook} />
      </SectionHeader>
      <section className="card">
        <WebhookSentence webhook={webhook} />
        {hasTrouble && <LastFailure id={id} webhook={webhook} />}
        <WebhookFacts webhook={webhook} />
        <WebhookActions id={id} webhook={webhook} />
      </section>
      <div className="columns">
        <WebhookTest id={id} webhookId={webhook.id} />
        <RecoverPanel key={webhook.id} id={id} webhook={webhook} />
      </div>
      <WebhookPlots id={id} webhookId={webhook.id} period={period} />
      <RotatePanel id={id} webhook={webhook} />
      <CodeSamples url={webhook.url} />
    </>
  );
}

function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const t = useTranslations("webhooks");
  const { last_delivery_at, ordering, retry_enabled, max_attempts, exclude, headers } = webhook;
  const { last_status, last_error_class } = webhook;
  const isStored = last_delivery_at !== null && last_status === null && last_error_class === null;
  const names = Object.keys(headers);
  return (
    <DescriptionList
      items={[
        {
          name: t("facts.last"),
          value: last_delivery_at === null ? t("facts.never") : <RelativeTime at={last_delivery_at} />,
        },
        {
          name: t("facts.answer"),
          value: isStored ? t("answered", { status: "null" }) : (last_status ?? t("facts.never")),
        },
        {
          name: t("facts.events"),
          value: webhook.events.length === 0 ? t("facts.usual") : webhook.events.join(", "),
        },
        {
          name: t("facts.attempts"),
          value: retry_enabled ? t("facts.upTo", { count: max_attempts }) : t("facts.one"),
        },
        { name: t("facts.ordering"), value: t(`orderName.${ordering}`) },
        ...(exclude.length > 0 ? [{ name: t("form.exclude"), value: exclude.join(", ") }] : []),
        ...(names.length > 0 ? [{ name: t("form.headers"), value: names.join(", ") }] : []),
      ]}
    />
  );
}

function WebhookActions({ id, webhook }: { id: number; webhook: Webhook }) {
  const t = useTranslations();
  const { id: webhookId, name, is_active } = webhook;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const onSettled = () => queries.invalidateQueries({ queryKey: ["instances", id] });
  const toggle = useMutation({
    mutationFn: () => gateway.updateWebhook({ id, webhookId, is_active: !is_active }),
    onSuccess: () => showToast(t(is_active ? "webhooks.paused" : "webhooks.resumed", { name })),
    onSettled,
  });
  const remove = useMutation({
    mutationFn: () => gateway.deleteWebhook({ id, webhookId }),
    onSuccess: async () => {
      showToast(t("webhooks.removed", { name }));
      await navigate({ to: "/instances/$id/webhooks", params: { id } });
    },
    onSettled,
  });
  return (
    <>
      <ErrorNotice error={toggle.error ?? remove.error} />
      <div className="buttons">
        <LinkButton to="/instances/$id/webhooks/$webhookId/edit" params={{ id, webhookId }}>
          {t("common.edit")}
        </LinkButton>
        <ActionButton isPending={toggle.isPending} onPress={() => toggle.mutate()}>
          {t(is_active ? "webhooks.pause" : "webhooks.resume")}
        </ActionButton>
        <ConfirmDialog
          label={t("common.delete")}
          title={t("webhooks.deleteTitle", { name })}
          consequence={t("webhooks.deleteHelp")}
          confirmLabel={t("webhooks.deleteConfirm")}
          onConfirm={() => remove.mutate()}
        />
        <Link to="/instances/$id/webhooks/attempts" params={{ id }} search={{ webhook: webhookId }}>
          {t("webhooks.itsAttempts")}
        </Link>
        <Link to="/instances/$id/webhooks/events" params={{ id }} search={{ webhook: webhookId }}>
          {t("webhooks.itsEvents")}
        </Link>
      </div>
      {is_active && <p className="hint">{t("webhooks.pauseHelp")}</p>}
    </>
  );
}

/** Seconds during which the previous secret signs too. */
const OVERLAPS = ["86400", "604800", "3600", "0"] as const;
type Overlap = (typeof OVERLAPS)[number];

/** Rotates the secret. The old one stays valid during the overlap. */
function RotatePanel({ id, webhook }: { id: number; webhook: Webhook }) {
  const t = useTranslations("webhooks.rotate");
  const format = useFormatter();
  const queries = useQueryClient();
  const [overlap, setOverlap] = useState<Overlap>("86400");
  const rotate = useMutation({
    mutationFn: async () => {
      const change = { rotate_secret: true, overlap_seconds: Number(overlap) };
      return (await gateway.updateWebhook({ id, webhookId: webhook.id, ...change })).data;
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  const [made, setMade] = useState<string>();
  const { previous_secret_until: until } = webhook;
  const show = async () => setMade((await rotate.mutateAsync()).secret);
  return (
    <section className="card">
      <h3>{t("title")}</h3>
      <p>{t("lead", { secret: webhook.secret })}</p>
      {until !== null && (
        <Notice tone="warning">
          <p>
            {t("overlap", {
              until: format.dateTime(new Date(until), { dateStyle: "medium", timeStyle: "short" }),
            })}
          </p>
        </Notice>
      )}
      {made !== undefined && (
        <>
          <h4>{t("made")}</h4>
          <CodeSample text={made} label={t("made")} />
          <p className="hint">{t("madeHelp")}</p>
        </>
      )}
      <div className="buttons">
        <FormDialog
          label={t("open")}
          title={t("dialog", { name: webhook.name })}
          submitLabel={t("submit")}
          mutation={rotate}
          onSubmit={show}
        >
          <p>{t("help")}</p>
          <PickList<Overlap>
            label={t("howLong")}
            value={overlap}
            options={{ "86400": t("day"), "604800": t("week"), "3600": t("hour"), "0": t("none") }}
            onChange={setOverlap}
          />
          {overlap === "0" && (
            <Notice tone="danger">
              <p>{t("noneHelp")}</p>
            </Notice>
          )}
        </FormDialog>
      </div>
    </section>
  );
}
