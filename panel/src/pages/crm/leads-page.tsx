import "./crm.css";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { formatPhone, RelativeTime, visibleName } from "../../components/formats.tsx";
import { EmptyState, PageHeader } from "../../components/page-header.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { saveFile } from "../../gateway/save-stream.ts";
import { useAccess } from "../../gateway/use-access.ts";
import { ContactsTabs } from "./contacts-tabs.tsx";
import { type Lead, leadsQuery } from "./crm-queries.ts";
import { nameOf, OptOutPill, TagList } from "./lead-badges.tsx";
import { LeadDialog } from "./lead-dialog.tsx";
import { LeadFilters } from "./lead-filter-fields.tsx";
import { type LeadFilter, toLeadQuery } from "./lead-filters.ts";

export function LeadsPage() {
  const t = useTranslations("crm");
  const filter = useSearch({ from: "/shell/crm" });
  const navigate = useNavigate();
  const query = useInfiniteQuery(leadsQuery(filter));
  const { may } = useAccess();
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <PageHeader title={t("title")} lead={t("lead")}>
        {may("admin") && <LeadExport filter={filter} />}
        {may("account") && <LinkButton to="/crm/import">{t("import")}</LinkButton>}
        <LeadDialog kind="primary" />
      </PageHeader>
      <ContactsTabs />
      <LeadFilters
        filter={filter}
        onChange={(search) => void navigate({ to: "/crm", search, replace: true })}
      />
      <PagedList
        query={query}
        className="lead-list"
        label={t("list")}
        none={
          <EmptyState
            title={t(isFiltered ? "noMatch" : "emptyTitle")}
            help={t(isFiltered ? "noMatchHelp" : "emptyHelp")}
          >
            {isFiltered && (
              <LinkButton to="/crm" search={{}}>
                {t("showAll")}
              </LinkButton>
            )}
          </EmptyState>
        }
      >
        {(lead) => <LeadRow key={lead.id} lead={lead} />}
      </PagedList>
    </>
  );
}

function LeadRow({ lead }: { lead: Lead }) {
  const details = [visibleName(lead.name) && lead.phone !== null && formatPhone(lead.phone), lead.email];
  return (
    <li className="lead-row">
      <div>
        <h2>
          <Link to="/crm/$id" params={{ id: lead.id }}>
            {nameOf(lead)}
          </Link>
        </h2>
        <p className="code">{details.filter(Boolean).join(" · ")}</p>
      </div>
      <div className="lead-badges">
        {lead.kanban_status !== null && <span className="lead-stage">{lead.kanban_status}</span>}
        <OptOutPill lead={lead} />
        <TagList tags={lead.tags} />
      </div>
      <p className="hint">
        <RelativeTime at={lead.updated_at} />
      </p>
    </li>
  );
}

function LeadExport({ filter }: { filter: LeadFilter }) {
  const t = useTranslations("common");
  const save = useMutation({
    mutationFn: async () => {
      const { bytes } = await gateway.exportLeads(toLeadQuery(filter));
      saveFile("contacts.csv", new Blob([Uint8Array.from(bytes)], { type: "text/csv" }));
    },
  });
  return (
    <>
      <ActionButton isPending={save.isPending} onPress={() => save.mutate()}>
        {t("export")}
      </ActionButton>
      <ErrorNotice error={save.error} />
    </>
  );
}
