import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { LinkButton } from "../../components/action-button.tsx";
import { CodeSample } from "../../components/code-sample.tsx";
import { ConfirmDialog } from "../../components/dialogs/confirm-dialog.tsx";
import { ErrorNotice, Notice } from "../../components/error-notice.tsx";
import { formatPhone, RelativeTime } from "../../components/formats.tsx";
import { LoadingState } from "../../components/page-header.tsx";
import { StatusReason } from "../../components/status-reason.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useGatewayTexts } from "../../components/use-gateway-texts.ts";
import { gateway, type Instance, type InstanceState } from "../../gateway/gateway.ts";
import {
  eventQuery,
  eventsQuery,
  instanceQuery,
  type RecordedEvent,
  stateQuery,
} from "../../gateway/queries.ts";
import { useAccess } from "../../gateway/use-access.ts";
import { ProfileSection } from "./settings/profile-section.tsx";

export function InstancePage() {
  const t = useTranslations();
  const { id } = useParams({ from: "/shell/instances/$id" });
  const row = useQuery(instanceQuery(id));
  const state = useQuery(stateQuery(id));
  const events = useQuery(eventsQuery(id));
  const error = row.error ?? state.error;
  if (error && !(row.data && state.data))
    return <ErrorNotice error={error} onRetry={() => [row.refetch(), state.refetch()]} />;
  if (!row.data || !state.data) return <LoadingState />;
  return (
    <>
      <div className="buttons">
        <MainStep id={id} state={state.data} />
      </div>
      {state.data.attention && (
        <Notice tone="info">
          <p>
            <strong>{t("instance.attention")}</strong>
          </p>
          <p>{t(`alerts.attention.${state.data.attention.code}`)}</p>
        </Notice>
      )}
      <section className="card" aria-label={t(`status.${state.data.status}`)}>
        <StatusReason status={state.data.status} reason={state.data.reason} />
        <DescriptionList row={row.data} state={state.data} />
      </section>
      {state.data.connected && <ProfileSection id={id} state={state.data} />}
      <div className="columns">
        <section className="card">
          <h2>{t("instance.actions")}</h2>
          <Actions row={row.data} state={state.data} />
          <h2>{t("instance.errors")}</h2>
          <LastErrors state={state.data} />
        </section>
        <section className="card">
          <h2>{t("instance.recent")}</h2>
          <EventList instanceId={id} events={events.data ?? []} />
        </section>
      </div>
    </>
  );
}

function MainStep({ id, state: { status } }: { id: number; state: InstanceState }) {
  const t = useTranslations("instances");
  const isLinked = status === "connected" || status === "reconnecting";
  return isLinked ? (
    <LinkButton to="/instances/$id/send" params={{ id }} kind="primary">
      {t("send")}
    </LinkButton>
  ) : (
    <LinkButton to="/instances/$id/link" params={{ id }} kind="primary">
      {t("linkSandbox")}
    </LinkButton>
  );
}

function DescriptionList({ row, state }: { row: Instance; state: InstanceState }) {
  const t = useTranslations();
  const time = (at: string | null) => (at === null ? t("common.none") : <RelativeTime at={at} />);
  const facts = {
    number: state.phone === null ? t("instances.noNumber") : formatPhone(state.phone),
    network: t(`instances.${row.network}`),
    connectedSince: state.connected ? time(row.connected_at) : t("common.none"),
    lastSeen: time(row.last_seen_at),
    messages: state.messages_24h,
    failures: state.failures_24h,
  };
  return (
    <dl className="description-list">
      {(Object.keys(facts) as (keyof typeof facts)[]).map((name) => (
        <div key={name}>
          <dt>{t(`instance.${name}`)}</dt>
          <dd>{facts[name]}</dd>
        </div>
      ))}
    </dl>
  );
}

function Actions({ row: { id, name }, state }: { row: Instance; state: InstanceState }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: ["instances"] });
  const reconnect = useMutation({
    mutationFn: () => gateway.reconnectInstance({ id, wait_seconds: 0 }),
    onSuccess: () => showToast(t("instance.reconnected")),
    onSettled: refresh,
  });
  const signOut = useMutation({
    mutationFn: () => gateway.logoutInstance({ id }),
    onSuccess: () => showToast(t("instance.signedOut", { name })),
    onSettled: refresh,
  });
  const isPaired = state.jid !== null;
  const mayManage = useAccess().may("admin");
  return (
    <div className="stack">
      <ErrorNotice error={reconnect.error ?? signOut.error} />
      <p className="hint">{isPaired ? t("instance.reconnectHelp") : t("instance.notPaired")}</p>
      <div className="buttons">
        {isPaired && (
          <ConfirmDialog
            label={t("instances.reconnect")}
            title={t("instance.reconnectTitle", { name })}
            consequence={t("instance.reconnectHelp")}
            confirmLabel={t("instances.reconnect")}
            onConfirm={() => reconnect.mutate()}
          />
        )}
        {isPaired && mayManage && (
          <ConfirmDialog
            label={t("instance.signOut")}
            title={t("instance.signOutTitle", { name })}
            consequence={t("instance.signOutHelp")}
            confirmLabel={t("instance.signOutConfirm")}
            onConfirm={() => signOut.mutate()}
          />
        )}
      </div>
    </div>
  );
}

function LastErrors({ state: { last_errors } }: { state: InstanceState }) {
  const t = useTranslations("instance");
  const texts = useGatewayTexts();
  if (last_errors.length === 0) return <p className="hint">{t("noErrors")}</p>;
  return (
    <ul className="events">
      {last_errors.map((failed) => (
        <li key={`${failed.at} ${failed.code} ${failed.message}`}>
          <span className="code">{failed.code}</span> <RelativeTime at={failed.at} />
          <p>{texts.failure(failed).sentence}</p>
        </li>
      ))}
    </ul>
  );
}

/** Events, newest first. Each expands to its webhook body. */
function EventList({ instanceId, events }: { instanceId: number; events: readonly RecordedEvent[] }) {
  const t = useTranslations("send");
  if (events.length === 0) return <p className="hint">{t("receiverEmpty")}</p>;
  return (
    <ul className="events" aria-label={t("receiverTitle")}>
      {events.map((event) => (
        <EventItem key={event.id} instanceId={instanceId} event={event} />
      ))}
    </ul>
  );
}

function EventItem({ instanceId, event }: { instanceId: number; event: RecordedEvent }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span className="code">{event.event}</span>
          <span className="hint">
            <RelativeTime at={event.created_at} />
          </span>
        </summary>
        {isOpen && <EventBody instanceId={instanceId} eventId={event.event_id} />}
      </details>
    </li>
  );
}

function EventBody({ instanceId, eventId }: { instanceId: number; eventId: string }) {
  const { data, error, refetch } = useQuery(eventQuery(instanceId, eventId));
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  return <CodeSample text={JSON.stringify(data.payload, null, 2)} label={eventId} />;
}
