import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useFormatter, useTranslations } from "use-intl";
import { CodeSample } from "../../components/code-sample.tsx";
import { Facts } from "../../components/facts.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { Notice } from "../../components/notice.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import { RouteLine } from "../../components/route-line.tsx";
import { SectionHead } from "../../components/section-head.tsx";
import { FailureWords } from "./failure-words.tsx";
import { RequestHeaders } from "./request-headers.tsx";
import { RetryAttempt } from "./retry-attempt.tsx";
import { SignatureCheck } from "./signature-check.tsx";
import { AttemptPill } from "./webhook-state.tsx";
import { type Attempt, attemptQuery, webhooksQuery } from "./webhooks-queries.ts";

/** One HTTP request to a receiver: what was sent, what came back, and what to do. */
export function AttemptPage() {
  const t = useTranslations("webhooks");
  const { id, logId } = useParams({ from: "/shell/instances/$id/webhooks/attempts/$logId" });
  const { data, error, refetch } = useQuery(attemptQuery(id, logId));
  if (error && !data) return <FaultNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  return (
    <>
      <SectionHead
        title={t("attemptTitle", { event: data.event })}
        lead={<span className="address">{data.url}</span>}
        trail={
          <Link to="/instances/$id/webhooks/attempts" params={{ id }}>
            {t("attemptsTitle")}
          </Link>
        }
      >
        <AttemptPill attempt={data} />
      </SectionHead>
      <section className="plate">
        <AttemptWay attempt={data} />
        {data.success ? (
          <Notice tone="go">
            <p>{t("arrived")}</p>
          </Notice>
        ) : (
          <FailureWords attempt={data} />
        )}
        <RetryAttempt key={data.id} id={id} attempt={data} />
      </section>
      <AttemptFacts id={id} attempt={data} />
      <Exchange id={id} attempt={data} />
    </>
  );
}

/** From the event to the answer. */
function AttemptWay({ attempt }: { attempt: Attempt }) {
  const t = useTranslations("webhooks.way");
  const format = useFormatter();
  const { event, created_at, duration_ms, success, status_code, webhook_name } = attempt;
  const sent = new Date(Date.parse(created_at) - duration_ms);
  return (
    <RouteLine
      isFlat
      stations={[
        { key: "event", name: t("event"), detail: event, state: "done" },
        {
          key: "sent",
          name: t("sent", { name: webhook_name }),
          detail: format.dateTime(sent, { timeStyle: "medium", dateStyle: "short" }),
          state: "done",
        },
        {
          key: "answer",
          name: status_code === null ? t("noAnswer") : t("answered", { status: String(status_code) }),
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
    <section className="plate" aria-label={t("about")}>
      <Facts
        facts={[
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
      <section className="plate">
        <h3>{t("response")}</h3>
        {attempt.status_code === null && <p className="hint">{t("noResponse")}</p>}
        {attempt.status_code !== null &&
          (attempt.response_body ? (
            <CodeSample text={attempt.response_body} label={t("response")} />
          ) : (
            <p className="hint">{t("test.noBody")}</p>
          ))}
        <p className="hint">{t("responseHelp")}</p>
      </section>
      <section className="plate">
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
