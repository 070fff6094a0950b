import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { formatPhone } from "../../components/format-phone.ts";
import { LoadMore } from "../../components/load-more.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { PickList } from "../../components/pick-list.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import { RECIPIENT_STATUSES } from "./campaign-filters.ts";
import { RecipientPill, useRecipientReason } from "./campaign-state.tsx";
import { type Recipient, recipientsQuery } from "./campaigns-queries.ts";

/** The recipients with what became of their messages. */
export function RecipientList({ id, isActive }: { id: number; isActive: boolean }) {
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
    <section className="plate" aria-label={t("campaigns.recipients")}>
      <div className="section-head">
        <h2>{t("campaigns.recipients")}</h2>
        <PickList
          label={t("campaigns.state")}
          value={status ?? ""}
          options={{ "": t("common.all"), ...statuses }}
          onChange={show}
        />
      </div>
      {query.error && <FaultNotice error={query.error} onRetry={() => void query.refetch()} />}
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
  const words = useRecipientReason();
  const variables = Object.entries(row.variables).slice(0, SHOWN_VARIABLES);
  return (
    <li>
      <div>
        <p className="code">{formatPhone(row.phone)}</p>
        <p className="hint">{variables.map(([name, value]) => `${name}: ${value}`).join(" · ")}</p>
      </div>
      <div>
        <RecipientPill status={row.status} />
        {row.reason !== null && <p className="hint">{words(row.reason)}</p>}
      </div>
      <p className="hint">{row.decided_at !== null && <RelativeTime at={row.decided_at} />}</p>
    </li>
  );
}
