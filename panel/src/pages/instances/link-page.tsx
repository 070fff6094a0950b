import "./instances.css";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useFormatter, useTranslations } from "use-intl";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { CodeSample } from "../../components/code-sample.tsx";
import { ErrorNotice, ErrorPage, Notice } from "../../components/error-notice.tsx";
import { formatPhone } from "../../components/formats.tsx";
import { LoadingState, PageHeader } from "../../components/page-header.tsx";
import { StatusPill } from "../../components/status-dot.tsx";
import { gateway, type Instance, type InstanceState } from "../../gateway/gateway.ts";
import { instanceQuery, pairingQuery, stateQuery } from "../../gateway/queries.ts";
import { FirstRunLine } from "./first-run.tsx";
import { PairingErrorNotice, PairingPanel, PhoneCodeForm } from "./pairing-panel.tsx";

export function LinkPage() {
  const t = useTranslations();
  const { id } = useParams({ from: "/shell/instances/$id/link" });
  const row = useQuery(instanceQuery(id));
  const state = useQuery({ ...stateQuery(id), refetchInterval: 1_500 });
  const error = row.error ?? state.error;
  const breadcrumbs = <Link to="/instances">{t("common.back")}</Link>;
  const retry = () => [row.refetch(), state.refetch()];
  if (error && !(row.data && state.data))
    return <ErrorPage title={t("shell.instances")} breadcrumbs={breadcrumbs} error={error} onRetry={retry} />;
  if (!row.data || !state.data) return <LoadingState />;
  const { name } = row.data;
  return (
    <>
      <PageHeader
        title={state.data.connected ? t("link.done") : t("link.title", { name })}
        breadcrumbs={breadcrumbs}
        lead={<StatusPill status={state.data.status} />}
      />
      <FirstSteps row={row.data} />
      <Step row={row.data} state={state.data} />
    </>
  );
}

/** Shown for an instance that was never linked. */
function FirstSteps({ row: { connected_at, status } }: { row: Instance }) {
  const [isFirst] = useState(connected_at === null);
  if (!isFirst) return null;
  return (
    <div className="link-progress">
      <FirstRunLine step={status === "connected" ? "message" : "link"} />
    </div>
  );
}

/** The next action of the user. */
function Step({ row, state }: { row: Instance; state: InstanceState }) {
  const { id, network } = row;
  if (state.connected) return <Linked row={row} state={state} />;
  if (state.status === "passkey_required") return <PasskeyPanel id={id} />;
  if (state.status === "qr_pending") return <PairingPanel id={id} network={network} />;
  if (state.status === "connecting" || state.status === "reconnecting") return <LoadingState />;
  return <Start row={row} state={state} />;
}

function Linked({ row: { id, name }, state }: { row: Instance; state: InstanceState }) {
  const t = useTranslations("link");
  return (
    <section className="card" aria-label={t("done")}>
      <p role="status">{t("doneHelp", { name, phone: formatPhone(state.phone ?? "") })}</p>
      <div className="buttons">
        <LinkButton to="/instances/$id/send" params={{ id }} kind="primary">
          {t("next")}
        </LinkButton>
      </div>
    </section>
  );
}

function Start({ row: { id, network }, state }: { row: Instance; state: InstanceState }) {
  const t = useTranslations("link");
  const { refetch } = useQuery({ ...stateQuery(id), enabled: false });
  const start = useMutation({
    mutationFn: () => gateway.connectInstance({ id, wait_seconds: 5 }),
    onSettled: () => refetch(),
  });
  return (
    <section className="card" aria-label={t("start")}>
      <PairingTrouble id={id} state={state} />
      <ErrorNotice error={start.error} />
      <p>{t("startHelp")}</p>
      <div className="buttons">
        <ActionButton kind="primary" isPending={start.isPending} onPress={() => start.mutate()}>
          {state.status === "created" ? t("start") : t("newCode")}
        </ActionButton>
      </div>
      {network === "whatsapp" && <PhoneCodeForm id={id} />}
    </section>
  );
}

/** Why the last pairing failed. */
function PairingTrouble({ id, state }: { id: number; state: InstanceState }) {
  const t = useTranslations("link");
  const { data } = useQuery(pairingQuery(id));
  const trouble = state.pairing_error ?? data?.pairing_error;
  if (trouble) return <PairingErrorNotice error={trouble} />;
  if (state.status !== "qr_expired") return null;
  return (
    <Notice tone="warning">
      <p>{t("expired")}</p>
    </Notice>
  );
}

/** Only the phone owner's browser has the passkey; the one-time link page uses it there. */
function PasskeyPanel({ id }: { id: number }) {
  const t = useTranslations("link");
  const format = useFormatter();
  const link = useMutation({ mutationFn: () => gateway.createLink({ id }) });
  const made = link.data?.data;
  return (
    <section className="card" aria-label={t("passkeyTitle")}>
      <h2>{t("passkeyTitle")}</h2>
      <Notice tone="info" isUrgent>
        <p>{t("passkeyHelp")}</p>
      </Notice>
      <ErrorNotice error={link.error} />
      {made === undefined ? (
        <div className="buttons">
          <ActionButton kind="primary" isPending={link.isPending} onPress={() => link.mutate()}>
            {t("passkeyOpen")}
          </ActionButton>
        </div>
      ) : (
        <>
          <CodeSample text={made.url} label={t("passkeyLink")} />
          <p>
            {t("passkeyUntil", { time: format.dateTime(new Date(made.expires_at), { timeStyle: "short" }) })}
          </p>
          <a className="button" href={new URL(made.url).pathname} target="_blank" rel="noreferrer">
            {t("passkeyLink")}
          </a>
        </>
      )}
    </section>
  );
}
