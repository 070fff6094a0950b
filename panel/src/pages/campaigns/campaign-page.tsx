import "./campaigns.css";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useFormatter, useTranslations } from "use-intl";
import { DescriptionList } from "../../components/description-list.tsx";
import { DeletedPage, ErrorNotice, ErrorPage } from "../../components/error-notice.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { formatPhone, RelativeTime } from "../../components/formats.tsx";
import { LoadingState, LoadMore, PageHeader } from "../../components/page-header.tsx";
import { useLiveEvent } from "../../gateway/live-events.ts";
import { isNotFound } from "../../gateway/queries.ts";
import { CampaignActions } from "./campaign-actions.tsx";
import { RECIPIENT_STATUSES } from "./campaign-filters.ts";
import { CampaignReport } from "./campaign-report.tsx";
import { CampaignReview } from "./campaign-review.tsx";
import { CampaignPill, RecipientPill, StateSentence, useRecipientReason } from "./campaign-state.tsx";
import {
  ACTIVE,
  type Campaign,
  type CampaignTotals,
  type CampaignWithTotals,
  campaignQuery,
  type Recipient,
  recipientsQuery,
  senderQuery,
} from "./campaigns-queries.ts";
import { useAccountZone } from "./use-account-zone.ts";

export function CampaignPage() {
  const t = useTranslations("campaigns");
  const { id } = useParams({ from: "/shell/campaigns/$id" });
  const { data, error, refetch } = useQuery(campaignQuery(id));
  useCampaignEvents(id);
  const breadcrumbs = <Link to="/campaigns">{t("backToList")}</Link>;
  if (error && !data)
    return (
      <ErrorPage title={t("title")} breadcrumbs={breadcrumbs} error={error} onRetry={() => void refetch()} />
    );
  if (!data) return <LoadingState />;
  if (isNotFound(error))
    return <DeletedPage title={data.name} breadcrumbs={breadcrumbs} text={t("deletedElsewhere")} />;
  const isActive = ACTIVE.has(data.status);
  const isWaiting = data.status === "created" || data.status === "paused";
  return (
    <>
      <PageHeader
        title={data.name}
        breadcrumbs={breadcrumbs}
        lead={
          <div className="state-line">
            <CampaignPill campaign={data} />
            <StateSentence campaign={data} />
          </div>
        }
      />
      <CampaignActions campaign={data} />
      <CampaignProgress campaign={data} />
      {isWaiting && data.totals.pending > 0 && <CampaignReview campaign={data} />}
      {data.status !== "created" && <CampaignReport id={id} isActive={isActive} />}
      <RecipientList id={id} isActive={isActive} />
      <CampaignFacts campaign={data} />
    </>
  );
}

/** Shows the totals of an event at once and refetches everything else. */
function useCampaignEvents(id: number): void {
  const queries = useQueryClient();
  useLiveEvent(({ event, data }) => {
    if (!event.startsWith("campaign.")) return;
    const { campaign, totals } = data as {
      campaign?: Pick<CampaignWithTotals, "id" | "status" | "status_reason" | "waiting">;
      totals?: CampaignTotals;
    };
    if (campaign?.id !== id || totals === undefined) return;
    const { status, status_reason, waiting } = campaign;
    queries.setQueryData(campaignQuery(id).queryKey, (before) =>
      before === undefined ? before : { ...before, status, status_reason, waiting, totals },
    );
    void queries.invalidateQueries({ queryKey: ["campaigns", id] });
  });
}

function CampaignFacts({ campaign }: { campaign: Campaign }) {
  const t = useTranslations();
  const format = useFormatter();
  const senders = useQuery(senderQuery);
  const account = useAccountZone();
  const { scheduled_at, quiet_hours, daily_limit, stop_on_error_rate: stop, consent_purpose } = campaign;
  const zone = quiet_hours?.tz ?? account.zone;
  const none = t("common.none");
  const time = (at: string | null) =>
    at === null
      ? none
      : format.dateTime(new Date(at), { dateStyle: "medium", timeStyle: "short", timeZone: zone });
  const sender = senders.data?.find(({ id }) => id === campaign.instance_id)?.name;
  return (
    <section className="card" aria-label={t("campaigns.settings")}>
      <h2>{t("campaigns.settings")}</h2>
      <DescriptionList
        items={[
          { name: t("campaigns.sender"), value: sender ?? none },
          { name: t("campaigns.scheduledAt"), value: time(scheduled_at) },
          {
            name: t("campaigns.hasQuietHours"),
            value: quiet_hours === null ? none : `${quiet_hours.start}–${quiet_hours.end}`,
          },
          { name: t("campaigns.zone"), value: zone.replaceAll("_", " ") },
          {
            name: t("campaigns.pauses"),
            value: t("campaigns.pausesValue", {
              from: campaign.min_delay_ms / 1_000,
              to: campaign.max_delay_ms / 1_000,
            }),
          },
          {
            name: t("campaigns.dailyLimit"),
            value: daily_limit === null ? none : format.number(daily_limit),
          },
          {
            name: t("campaigns.stopPercent"),
            value: stop === null ? none : format.number(stop, { style: "percent" }),
          },
          { name: t("campaigns.consentPurpose"), value: consent_purpose ?? none },
          { name: t("campaigns.startedAt"), value: time(campaign.started_at) },
          { name: t("campaigns.endedAt"), value: time(campaign.completed_at) },
        ]}
      />
    </section>
  );
}

const FIGURES = [
  "sent",
  "delivered",
  "read",
  "failed",
  "skipped",
] as const satisfies readonly (keyof CampaignTotals)[];
const TONES = { sent: "first", delivered: "first", read: "second", failed: "bad", skipped: "third" } as const;

function CampaignProgress({ campaign }: { campaign: CampaignWithTotals }) {
  const t = useTranslations("campaigns");
  const format = useFormatter();
  const { totals, status } = campaign;
  const done = totals.total - totals.pending - totals.queued;
  if (status === "created")
    return <p className="progress-label">{t("recipientCount", { count: totals.total })}</p>;
  return (
    <section className="card" aria-label={t("progress")}>
      <div className="stack" aria-live="polite">
        <p className="progress-label">{t("progressOf", { done, total: totals.total })}</p>
        <progress
          className="campaign-bar"
          data-series={totals.failed > 0 && totals.sent === 0 ? "bad" : undefined}
          max={Math.max(1, totals.total)}
          value={done}
          aria-label={t("progress")}
        />
        <TimeLeft campaign={campaign} />
      </div>
      <dl className="campaign-figures">
        {FIGURES.map((name) => (
          <div key={name} data-series={TONES[name]}>
            <dt>{t(`figure.${name}`)}</dt>
            <dd>
              {format.number(totals[name])}
              <progress
                className="campaign-figure-bar"
                max={Math.max(1, totals.total)}
                value={totals[name]}
                aria-label={t(`figure.${name}`)}
              />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const MINUTE_MS = 60_000;

function TimeLeft({ campaign }: { campaign: CampaignWithTotals }) {
  const t = useTranslations("campaigns");
  const { status, min_delay_ms, max_delay_ms, totals } = campaign;
  if (!ACTIVE.has(status) || status === "scheduled") return null;
  const left = (totals.pending + totals.queued) * ((min_delay_ms + max_delay_ms) / 2);
  return <p className="hint">{t("timeLeft", { minutes: Math.ceil(left / MINUTE_MS) })}</p>;
}

function RecipientList({ id, isActive }: { id: number; isActive: boolean }) {
  const t = useTranslations();
  const { status } = useSearch({ from: "/shell/campaigns/$id" });
  const navigate = useNavigate();
  const query = useInfiniteQuery(recipientsQuery(id, status ? { status } : {}, isActive));
  const rows = query.data?.pages.flatMap((page) => page.rows) ?? [];
  const statuses = Object.fromEntries(
    RECIPIENT_STATUSES.map((one) => [one, t(`campaigns.recipientStatus.${one}`)]),
  );
  const show = (next: string) =>
    void navigate({
      to: "/campaigns/$id",
      params: { id },
      search: next === "" ? {} : { status: next as Recipient["status"] },
      replace: true,
      resetScroll: false,
    });
  return (
    <section className="card" aria-label={t("campaigns.recipients")}>
      <div className="section-head">
        <h2>{t("campaigns.recipients")}</h2>
        <PickList
          label={t("campaigns.state")}
          value={status ?? ""}
          options={{ "": t("common.all"), ...statuses }}
          onChange={show}
        />
      </div>
      {query.error && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <LoadingState />}
      {query.data && rows.length === 0 && (
        <p className="hint">{t(status ? "campaigns.noRecipientMatch" : "campaigns.noRecipients")}</p>
      )}
      {rows.length > 0 && (
        <ul className="campaign-recipients">
          {rows.map((row) => (
            <RecipientRow key={row.id} row={row} />
          ))}
        </ul>
      )}
      <LoadMore query={query} />
    </section>
  );
}

const SHOWN_VARIABLES = 4;

function RecipientRow({ row }: { row: Recipient }) {
  const reasonText = useRecipientReason();
  const variables = Object.entries(row.variables).slice(0, SHOWN_VARIABLES);
  return (
    <li>
      <div>
        <p className="code">{formatPhone(row.phone)}</p>
        <p className="hint">{variables.map(([name, value]) => `${name}: ${value}`).join(" · ")}</p>
      </div>
      <div>
        <RecipientPill status={row.status} />
        {row.reason !== null && <p className="hint">{reasonText(row.reason)}</p>}
      </div>
      <p className="hint">{row.decided_at !== null && <RelativeTime at={row.decided_at} />}</p>
    </li>
  );
}
