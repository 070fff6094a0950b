import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useFormatter, useTranslations } from "use-intl";
import { ActionButton, LinkButton } from "../../../components/action-button.tsx";
import { CodeSample } from "../../../components/code-sample.tsx";
import { DescriptionList, Stepper } from "../../../components/description-list.tsx";
import { ErrorNotice, Notice } from "../../../components/error-notice.tsx";
import { RelativeTime } from "../../../components/formats.tsx";
import { LoadingState, SectionHeader } from "../../../components/page-header.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import { FailureNotice } from "../failure-notice.tsx";
import { AttemptPill } from "../webhook-state.tsx";
import {
  type Attempt,
  attemptQuery,
  attemptsOfEventQuery,
  type Webhook,
  webhooksQuery,
} from "../webhooks-queries.ts";
import { SignatureCheck } from "./signature-check.tsx";

export function AttemptPage() {
  const t = useTranslations("webhooks");
  const { id, logId } = useParams({ from: "/shell/instances/$id/webhooks/attempts/$logId" });
  const { data, error, refetch } = useQuery(attemptQuery(id, logId));
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  return (
    <>
      <SectionHeader
        title={t("attemptTitle", { event: data.event })}
        lead={<span className="address">{data.url}</span>}
        breadcrumbs={
          <Link to="/instances/$id/webhooks/attempts" params={{ id }}>
            {t("attemptsTitle")}
          </Link>
        }
      >
        <AttemptPill attempt={data} />
      </SectionHeader>
      <section className="card">
        <AttemptSteps attempt={data} />
        {data.success ? (
          <Notice tone="success">
            <p>{t("arrived")}</p>
          </Notice>
        ) : (
          <FailureNotice attempt={data} />
        )}
        <RetryAttempt key={data.id} id={id} attempt={data} />
      </section>
      <AttemptFacts id={id} attempt={data} />
      <Exchange id={id} attempt={data} />
    </>
  );
}

/** The steps of one attempt. */
function AttemptSteps({ attempt }: { attempt: Attempt }) {
  const t = useTranslations("webhooks.way");
  const format = useFormatter();
  const { event, created_at, duration_ms, success, status_code, webhook_name } = attempt;
  const sent = new Date(Date.parse(created_at) - duration_ms);
  return (
    <Stepper
      isFlat
      steps={[
        { key: "event", name: t("event"), detail: event, state: "done" },
        {
          key: "sent",
          name: t("sent", { name: webhook_name }),
          detail: format.dateTime(sent, { timeStyle: "medium", dateStyle: "short" }),
          state: "done",
        },
        {
          key: "answer",
          name:
            status_code === null && !success ? t("noAnswer") : t("answered", { status: String(status_code) }),
          detail: t("after", { duration: duration_ms }),
          state: success ? "done" : "failed",
        },
      ]}
    />
  );
}

function AttemptFacts({ id, attempt }: { id: number; attempt: Attempt }) {
  const t = useTranslations("webhooks");
  const { data = [] } = useQuery(webhooksQuery(id));
  const { webhook_id, webhook_name, event_id } = attempt;
  const isOwn = data.some((webhook) => webhook.id === webhook_id);
  return (
    <section className="card" aria-label={t("about")}>
      <DescriptionList
        items={[
          {
            name: t("webhook"),
            value: isOwn ? (
              <Link to="/instances/$id/webhooks/$webhookId" params={{ id, webhookId: webhook_id }}>
                {webhook_name}
              </Link>
            ) : (
              webhook_name
            ),
          },
          {
            name: t("event"),
            value: (
              <Link to="/instances/$id/webhooks/events/$eventId" params={{ id, eventId: event_id }}>
                {event_id}
              </Link>
            ),
          },
          { name: t("facts.when"), value: <RelativeTime at={attempt.created_at} /> },
          { name: t("facts.why"), value: t(`trigger.${attempt.trigger}`, { number: attempt.attempt }) },
        ]}
      />
    </section>
  );
}

function Exchange({ id, attempt }: { id: number; attempt: Attempt }) {
  const t = useTranslations("webhooks");
  const { data: webhooks = [] } = useQuery(webhooksQuery(id));
  const webhook = webhooks.find((one) => one.id === attempt.webhook_id);
  const body = attempt.request_payload;
  const hasBody = body !== null && body !== undefined;
  return (
    <>
      <section className="card">
        <h3>{t("response")}</h3>
        {attempt.status_code === null && (
          <p className="hint">{t(attempt.success ? "stored" : "noResponse")}</p>
        )}
        {attempt.status_code !== null &&
          (attempt.response_body ? (
            <CodeSample text={attempt.response_body} label={t("response")} />
          ) : (
            <p className="hint">{t("test.noBody")}</p>
          ))}
        <p className="hint">{t("responseHelp")}</p>
      </section>
      <section className="card">
        <h3>{t("request")}</h3>
        <RequestHeaders attempt={attempt} webhook={webhook} />
        <h4>{t("body")}</h4>
        {hasBody ? (
          <CodeSample text={JSON.stringify(body, null, 2)} label={t("body")} />
        ) : (
          <p className="hint">{t("bodyGone")}</p>
        )}
      </section>
      {hasBody && (
        <SignatureCheck attempt={attempt} isOwnFormat={(webhook?.format ?? "native") === "native"} />
      )}
    </>
  );
}

/** The request headers; values that are not stored are described. */
function RequestHeaders({ attempt, webhook }: { attempt: Attempt; webhook: Webhook | undefined }) {
  const t = useTranslations("webhooks.headers");
  const seconds = Math.floor((Date.parse(attempt.created_at) - attempt.duration_ms) / 1_000);
  const rows: [name: string, value: string, help: string][] = [
    ["content-type", "application/json; charset=utf-8", t("type")],
    ["x-waygate-event", attempt.event, t("event")],
    ["x-waygate-event-id", attempt.event_id, t("eventId")],
    ["x-waygate-attempt", String(attempt.attempt), t("attempt")],
    ["x-waygate-instance", `inst_${attempt.instance_id}`, t("instance")],
    ["x-waygate-timestamp", t("about", { value: String(seconds) }), t("timestamp")],
    ["x-waygate-delivery", "dlv_…", t("delivery")],
    ["x-waygate-signature", "sha256=…", t("signature")],
    ["webhook-id", attempt.event_id, t("standardId")],
    ["webhook-timestamp", t("about", { value: String(seconds) }), t("timestamp")],
    ["webhook-signature", "v1,…", t("standard")],
    ...Object.keys(webhook?.headers ?? {}).map((name): [string, string, string] => [name, "****", t("own")]),
  ];
  return (
    <details>
      <summary>{t("title", { count: rows.length })}</summary>
      <table className="table headers">
        <thead>
          <tr>
            <th scope="col">{t("name")}</th>
            <th scope="col">{t("value")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, value, help]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <span className="code">{value}</span>
                <span className="hint">{help}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** Sends the event to the same webhook again and follows the new attempt. */
function RetryAttempt({ id, attempt }: { id: number; attempt: Attempt }) {
  const t = useTranslations("webhooks.retry");
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: async () => {
      const { event_id, webhook_id } = attempt;
      const { data } = await gateway.listDeliveryLogs({ id, event_id, webhook_id, limit: 1 });
      await gateway.retryDeliveryLog({ logId: attempt.id });
      return { after: data[0]?.id ?? attempt.id };
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  return (
    <>
      <ErrorNotice error={retry.error} />
      <div className="buttons">
        <ActionButton
          kind={attempt.success ? "secondary" : "primary"}
          isPending={retry.isPending}
          onPress={() => retry.mutate()}
        >
          {t(attempt.success ? "again" : "submit")}
        </ActionButton>
      </div>
      {retry.data && <Followed id={id} attempt={attempt} after={retry.data.after} />}
    </>
  );
}

function Followed({ id, attempt, after }: { id: number; attempt: Attempt; after: number }) {
  const t = useTranslations("webhooks.retry");
  const { data = [], error } = useQuery(attemptsOfEventQuery(id, attempt.event_id));
  if (error) return <ErrorNotice error={error} />;
  const made = data.find((one) => one.id > after && one.webhook_id === attempt.webhook_id);
  if (!made)
    return (
      <Notice tone="warning">
        <p>{t("waiting")}</p>
      </Notice>
    );
  const more = (
    <LinkButton to="/instances/$id/webhooks/attempts/$logId" params={{ id, logId: made.id }}>
      {t("details")}
    </LinkButton>
  );
  if (!made.success) return <FailureNotice attempt={made}>{more}</FailureNotice>;
  return (
    <Notice
      tone="success"
      isUrgent
      title={t("ok", { status: String(made.status_code), duration: made.duration_ms })}
    >
      <p>{t("okHelp")}</p>
      <div className="buttons">{more}</div>
    </Notice>
  );
}
