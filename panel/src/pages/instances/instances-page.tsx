import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import type { Instance } from "../../api/gateway.ts";
import { instancesQuery } from "../../api/queries.ts";
import { LinkButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { formatPhone } from "../../components/format-phone.ts";
import { LoadMore } from "../../components/load-more.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import { RouteLine } from "../../components/route-line.tsx";
import { StatusPill } from "../../components/status-pill.tsx";
import { StatusReason } from "../../components/status-reason.tsx";

export function InstancesPage() {
  const t = useTranslations("instances");
  const query = useInfiniteQuery(instancesQuery);
  const { data, error, isPending, hasNextPage, refetch } = query;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const connected = rows.filter(({ status }) => status === "connected").length;
  const isEmpty = data !== undefined && rows.length === 0;
  return (
    <>
      <PageHead
        title={isEmpty ? t("emptyTitle") : t("title")}
        lead={
          isEmpty ? t("emptyLead") : data && !hasNextPage && t("summary", { total: rows.length, connected })
        }
      >
        {rows.length > 0 && (
          <LinkButton to="/instances/new" kind="main">
            {t("create")}
          </LinkButton>
        )}
      </PageHead>
      {error && <FaultNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <LoadingState />}
      {isEmpty && <FirstRun />}
      {rows.length > 0 && (
        <ul className="rows" aria-label={t("list")}>
          {rows.map((row) => (
            <InstanceRow key={row.id} row={row} />
          ))}
        </ul>
      )}
      <LoadMore query={query} />
    </>
  );
}

/** What an empty account shows: the way to the first message. */
function FirstRun() {
  const t = useTranslations("instances");
  return (
    <section className="blank" aria-label={t("emptyTitle")}>
      <RouteLine
        isFlat
        stations={[
          { key: "instance", name: t("stepInstance"), detail: t("stepInstanceHelp"), state: "here" },
          { key: "link", name: t("stepLink"), detail: t("stepLinkHelp"), state: "ahead" },
          { key: "message", name: t("stepMessage"), detail: t("stepMessageHelp"), state: "ahead" },
        ]}
      />
      <LinkButton to="/instances/new" kind="main">
        {t("createFirst")}
      </LinkButton>
    </section>
  );
}

function InstanceRow({ row }: { row: Instance }) {
  const t = useTranslations("instances");
  return (
    <li className="row">
      <div>
        <h2>
          <Link to="/instances/$id" params={{ id: row.id }}>
            {row.name}
          </Link>
        </h2>
        <p className="code">
          {row.phone === null ? t("noNumber") : formatPhone(row.phone)} · {t(row.network)}
        </p>
      </div>
      <div className="stack">
        <div className="buttons">
          <StatusPill status={row.status} />
          <span className="hint">
            {t.rich("changed", { when: () => <RelativeTime at={row.updated_at} /> })}
          </span>
        </div>
        <StatusReason status={row.status} reason={row.last_disconnect_reason} />
      </div>
      <NextStep row={row} />
    </li>
  );
}

/** The one thing that helps this instance most. */
function NextStep({ row: { id, name, status, network } }: { row: Instance }) {
  const t = useTranslations("instances");
  const label = (text: string) => ({ children: text, "aria-label": `${text}: ${name}` });
  if (status === "connected")
    return <LinkButton to="/instances/$id/send" params={{ id }} {...label(t("send"))} />;
  if (status === "reconnecting" || status === "banned" || status === "error" || status === "disconnected")
    return <LinkButton to="/instances/$id" params={{ id }} {...label(t("open"))} />;
  const isRunning = status === "connecting" || status === "qr_pending" || status === "passkey_required";
  const text = isRunning ? t("continueLink") : network === "sandbox" ? t("linkSandbox") : t("link");
  return <LinkButton to="/instances/$id/link" params={{ id }} kind="main" {...label(text)} />;
}
