import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { PickList } from "../../components/fields/pick-list.tsx";
import { ValueField } from "../../components/fields/value-field.tsx";
import { useContactStatus } from "../../components/formats.tsx";
import { labelsQuery } from "./crm-queries.ts";
import type { LeadFilter } from "./lead-filters.ts";

interface LeadFiltersProps {
  filter: LeadFilter;
  onChange(filter: LeadFilter): void;
  /** For the board, which shows every stage. */
  withoutStage?: boolean;
}

export function LeadFilters({ filter, onChange, withoutStage = false }: LeadFiltersProps) {
  const t = useTranslations();
  const nameStatus = useContactStatus();
  const { data } = useQuery(labelsQuery);
  const optionsOf = (
    labels: readonly { name: string }[] = [],
    chosen = "",
    nameOf = (name: string) => name,
  ) => ({
    "": t("common.all"),
    ...Object.fromEntries(
      [...labels, ...(chosen ? [{ name: chosen }] : [])].map(({ name }) => [name, nameOf(name)]),
    ),
  });
  const set = (name: "stage" | "status" | "tag") => (value: string) => {
    const { [name]: _, ...others } = filter;
    onChange({ ...others, ...(value !== "" && { [name]: value }) });
  };
  const { optedOut, ...others } = filter;
  return (
    <search className="pickers lead-filters">
      <SearchField filter={filter} onChange={onChange} />
      {!withoutStage && (
        <PickList
          label={t("crm.stage")}
          value={filter.stage ?? ""}
          options={optionsOf(data?.stages, filter.stage)}
          onChange={set("stage")}
        />
      )}
      <PickList
        label={t("crm.status")}
        value={filter.status ?? ""}
        options={optionsOf(data?.statuses, filter.status, nameStatus)}
        onChange={set("status")}
      />
      <PickList
        label={t("crm.tag")}
        value={filter.tag ?? ""}
        options={optionsOf(data?.tags, filter.tag)}
        onChange={set("tag")}
      />
      <PickList
        label={t("crm.consent")}
        value={optedOut === undefined ? "" : optedOut ? "out" : "in"}
        options={{ "": t("common.all"), in: t("crm.mayWrite"), out: t("crm.optedOut") }}
        onChange={(value) => onChange({ ...others, ...(value !== "" && { optedOut: value === "out" }) })}
      />
    </search>
  );
}

const PAUSE_MS = 300;

/** Debounces the search. */
function SearchField({ filter, onChange }: Pick<LeadFiltersProps, "filter" | "onChange">) {
  const t = useTranslations("common");
  const { search = "", ...others } = filter;
  const [text, setText] = useState(search);
  const asked = useRef(search);
  useEffect(() => {
    // Something else changed the URL, such as a link that clears the filters.
    if (search === asked.current) return;
    asked.current = search;
    setText(search);
  }, [search]);
  useEffect(() => {
    if (text.trim() === asked.current) return;
    const timer = setTimeout(() => {
      asked.current = text.trim();
      onChange({ ...others, ...(text.trim() && { search: text.trim() }) });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  });
  return <ValueField type="search" label={t("search")} value={text} onChange={setText} maxLength={200} />;
}
