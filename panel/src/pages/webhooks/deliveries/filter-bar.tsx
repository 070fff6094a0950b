import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { TimeField } from "../../../components/fields/form-field.tsx";
import { PickList } from "../../../components/fields/pick-list.tsx";
import { ALL_EVENTS } from "../event-groups.ts";
import { webhooksQuery } from "../webhooks-queries.ts";

interface CommonFilter {
  event?: string;
  webhook?: number;
  from?: string;
  to?: string;
}

interface FilterBarProps {
  id: number;
  filter: CommonFilter;
  isFiltered: boolean;
  onChange(part: { [Key in keyof CommonFilter]: CommonFilter[Key] | undefined }): void;
  /** Filters of this list only. */
  children: ReactNode;
}

/** The common filters: webhook, event and time. */
export function FilterBar({ id, filter, isFiltered, onChange, children }: FilterBarProps) {
  const t = useTranslations();
  const { data = [] } = useQuery(webhooksQuery(id));
  const webhooks = Object.fromEntries(data.map((webhook) => [String(webhook.id), webhook.name]));
  const events = Object.fromEntries(ALL_EVENTS.map((name) => [name, name]));
  return (
    <details className="filter-box" open={isFiltered || undefined}>
      <summary>{t("webhooks.filter")}</summary>
      <div className="filters">
        {children}
        <PickList<string>
          label={t("webhooks.webhook")}
          value={String(filter.webhook ?? "")}
          options={{ "": t("common.all"), ...webhooks }}
          onChange={(value) => onChange({ webhook: value === "" ? undefined : Number(value) })}
        />
        <PickList<string>
          label={t("webhooks.event")}
          value={filter.event ?? ""}
          options={{ "": t("common.all"), ...events }}
          onChange={(value) => onChange({ event: value || undefined })}
        />
        <TimeField
          label={t("webhooks.from")}
          value={filter.from ?? ""}
          onChange={(value) => onChange({ from: value || undefined })}
        />
        <TimeField
          label={t("webhooks.to")}
          value={filter.to ?? ""}
          onChange={(value) => onChange({ to: value || undefined })}
        />
      </div>
    </details>
  );
}

export function withoutCleared<Filter extends object>(filter: Filter): Filter {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(set) as Filter;
}
