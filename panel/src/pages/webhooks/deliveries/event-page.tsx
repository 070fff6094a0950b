import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useFormatter, useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { CodeSample } from "../../../components/code-sample.tsx";
import { DescriptionList } from "../../../components/description-list.tsx";
import { ErrorNotice } from "../../../components/error-notice.tsx";
import { PickList } from "../../../components/fields/pick-list.tsx";
import { RelativeTime } from "../../../components/formats.tsx";
import { LoadingState, SectionHeader } from "../../../components/page-header.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import { DeliveryPill } from "../webhook-state.tsx";
import {
  attemptsOfEventQuery,
  type Delivery,
  recordedEventQuery,
  webhooksQuery,
} from "../webhooks-queries.ts";
import { AttemptList } from "./attempts-page.tsx";

export function EventPage() {
  const t = useTranslations("webhooks");
  const { id, eventId } = useParams({ from: "/shell/instances/$id/webhooks/events/$eventId" });
  const { data, error, refetch } = useQuery(recordedEventQuery(id, eventId));
  const attempts = useQuery(attemptsOfEventQuery(id, eventId));
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const rows = attempts.data ?? [];
  return (
    <>
      <SectionHeader
        title={data.event}
        lead={<span className="address">{data.event_id}</span>}
        breadcrumbs={
          <Link to="/instances/$id/webhooks/events" params={{ id }}>
            {t("eventsTitle")}
          </Link>
        }
      />
      <section className="card">
        <DescriptionList
          items={[
            { name: t("facts.sequence"), value: data.sequence },
            { name: t("facts.recorded"), value: <RelativeTime at={data.created_at} /> },
          ]}
        />
        <h3>{t("deliveries")}</h3>
        <Deliveries id={id} deliveries={data.deliveries} />
        <Replay id={id} eventId={data.event_id} />
      </section>
      <section className="card">
        <h3>{t("attemptsTitle")}</h3>
        <ErrorNotice error={attempts.error} />
        {rows.length === 0 ? (
          <p className="hint">{t("noAttempt")}</p>
        ) : (
          <AttemptList id={id} attempts={rows} />
        )}
      </section>
      <section className="card">
        <h3>{t("payload")}</h3>
        <CodeSample text={JSON.stringify(data.payload, null, 2)} label={t("payload")} />
      </section>
    </>
  );
}

function Deliveries({ id, deliveries }: { id: number; deliveries: readonly Delivery[] }) {
  const t = useTranslations("webhooks");
  const { data = [] } = useQuery(webhooksQuery(id));
  if (deliveries.length === 0) return <p className="hint">{t("noDeliveryHelp")}</p>;
  const nameOf = (webhookId: number) =>
    data.find((webhook) => webhook.id === webhookId)?.name ?? t("otherWebhook", { id: webhookId });
  return (
    <ul className="tries" aria-label={t("deliveries")}>
      {deliveries.map((delivery) => (
        <li key={delivery.webhook_id}>
          <span>
            <DeliveryPill status={delivery.status} />
          </span>
          <strong>{nameOf(delivery.webhook_id)}</strong>
          <span className="hint">
            {/* Manual attempts are not counted. */}
            {delivery.attempts > 0 && `${t("attemptCount", { count: delivery.attempts })}. `}
            {delivery.error}
          </span>
          <span className="hint">
            {delivery.next_retry_at &&
              t.rich("next", { when: () => <FutureTime at={delivery.next_retry_at ?? ""} /> })}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** A future time. */
function FutureTime({ at }: { at: string }) {
  const format = useFormatter();
  return (
    <time dateTime={at}>{format.dateTime(new Date(at), { dateStyle: "short", timeStyle: "medium" })}</time>
  );
}

/** Sends the event again to all webhooks or to one. */
function Replay({ id, eventId }: { id: number; eventId: string }) {
  const t = useTranslations("webhooks.replay");
  const queries = useQueryClient();
  const { data = [] } = useQuery(webhooksQuery(id));
  const [target, setTarget] = useState("");
  const send = useMutation({
    mutationFn: async () =>
      (await gateway.retryEvent({ id, eventId, ...(target !== "" && { webhook_id: Number(target) }) })).data,
    onSuccess: ({ webhook_ids }) => showToast(t("sent", { count: webhook_ids.length })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  const names = Object.fromEntries(data.map((webhook) => [String(webhook.id), webhook.name]));
  return (
    <>
      <ErrorNotice error={send.error} />
      <div className="replay">
        <PickList<string>
          label={t("target")}
          value={target}
          options={{ "": t("all"), ...names }}
          onChange={setTarget}
        />
        <ActionButton isPending={send.isPending} onPress={() => send.mutate()}>
          {t("submit")}
        </ActionButton>
      </div>
    </>
  );
}
