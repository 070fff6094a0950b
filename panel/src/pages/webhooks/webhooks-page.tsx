import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { LinkButton } from "../../components/action-button.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { EmptyState, LoadingState, SectionHeader } from "../../components/page-header.tsx";
import { rovingTabIndex } from "../../components/roving-tab-index.ts";
import { FailureNotice } from "./failure-notice.tsx";
import { WebhookPlots } from "./webhook-plots.tsx";
import { stateOf, WebhookPill, WebhookSentence } from "./webhook-state.tsx";
import { lastFailureQuery, type Webhook, webhooksQuery } from "./webhooks-queries.ts";

export function WebhooksPage() {
  const t = useTranslations("webhooks");
  const { id } = useParams({ from: "/shell/instances/$id" });
  const { period = "day" } = useSearch({ from: "/shell/instances/$id/webhooks/" });
  const { data, error, refetch } = useQuery(webhooksQuery(id));
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  if (data.length === 0)
    return (
      <EmptyState title={t("emptyTitle")} help={t("emptyHelp")}>
        <LinkButton to="/instances/$id/webhooks/new" params={{ id }} kind="primary">
          {t("addFirst")}
        </LinkButton>
      </EmptyState>
    );
  const working = data.filter((webhook) => ["working", "waiting"].includes(stateOf(webhook))).length;
  return (
    <>
      <SectionHeader title={t("title")} lead={t("summary", { total: data.length, working })}>
        <LinkButton to="/instances/$id/webhooks/new" params={{ id }} kind="primary">
          {t("add")}
        </LinkButton>
      </SectionHeader>
      <ul ref={rovingTabIndex} className="rows" aria-label={t("title")}>
        {data.map((webhook) => (
          <WebhookRow key={webhook.id} id={id} webhook={webhook} />
        ))}
      </ul>
      <WebhookPlots id={id} period={period} />
    </>
  );
}

function WebhookRow({ id, webhook }: { id: number; webhook: Webhook }) {
  const t = useTranslations("webhooks");
  const params = { id, webhookId: webhook.id };
  const state = stateOf(webhook);
  return (
    <li className="row">
      <div>
        <h3>
          <Link to="/instances/$id/webhooks/$webhookId" params={params}>
            {webhook.name}
          </Link>
        </h3>
        <p className="address">{webhook.url}</p>
      </div>
      <div className="stack">
        <div className="buttons">
          <WebhookPill webhook={webhook} />
        </div>
        <WebhookSentence webhook={webhook} />
        {(state === "failing" || state === "stopped") && <LastFailure id={id} webhook={webhook} isShort />}
      </div>
      <LinkButton
        to="/instances/$id/webhooks/$webhookId"
        params={params}
        aria-label={t("openNamed", { name: webhook.name })}
      >
        {t("open")}
      </LinkButton>
    </li>
  );
}

interface LastFailureProps {
  id: number;
  webhook: Webhook;
  isShort?: boolean;
}

/** The latest failure, with a link to its attempt while it is retained. */
export function LastFailure({ id, webhook, isShort = false }: LastFailureProps) {
  const t = useTranslations("webhooks");
  const { data } = useQuery(lastFailureQuery(id, webhook.id));
  const { last_status: status_code, last_error_class: error_class } = webhook;
  if (data)
    return (
      <FailureNotice attempt={data} isShort={isShort}>
        <LinkButton to="/instances/$id/webhooks/attempts/$logId" params={{ id, logId: data.id }}>
          {t("openFailure")}
        </LinkButton>
      </FailureNotice>
    );
  if (error_class === null) return null;
  return <FailureNotice attempt={{ success: false, status_code, error_class }} />;
}
