import { useEffect, useRef, useState } from "react";
import { Input, Label, SearchField } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ExportButton } from "../../components/csv/list-export.tsx";
import type { Table } from "../../components/csv/to-csv.ts";
import { PickList } from "../../components/fields/pick-list.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway, type Instance, type InstanceStatus } from "../../gateway/gateway.ts";
import { type InstanceFilter, SORTS, STATUSES, toInstanceQuery } from "./instances-queries.ts";

const TYPING_MS = 250;
/** Spreadsheets become slow above this. */
const MOST_EXPORTED = 10_000;

interface InstanceFilterBarProps {
  filter: InstanceFilter;
  counts: Readonly<Record<string, number>> | undefined;
  onChange(filter: InstanceFilter): void;
}

/** Search, status and order, which the URL holds too, and the export. */
export function InstanceFilterBar({ filter, counts, onChange }: InstanceFilterBarProps) {
  const t = useTranslations();
  const set = (change: Partial<Record<keyof InstanceFilter, string | undefined>>) => {
    const next = Object.entries({ ...filter, ...change }).filter(([, value]) => value);
    onChange(Object.fromEntries(next));
  };
  const sorts = Object.fromEntries(SORTS.map((sort) => [sort, t(`instances.sorts.${sort}`)]));
  return (
    <search className="filter-bar">
      <InstanceSearch value={filter.search ?? ""} onChange={(search) => set({ search })} />
      <PickList<string>
        label={t("instances.status")}
        value={filter.status ?? ""}
        options={useStatusOptions(counts)}
        onChange={(status) => set({ status })}
      />
      <PickList<string>
        label={t("instances.order")}
        value={filter.sort ?? "newest"}
        options={sorts}
        onChange={(sort) => set({ sort: sort === "newest" ? undefined : sort })}
      />
      <div className="filter-end">
        <InstanceExport filter={filter} />
      </div>
    </search>
  );
}

function useStatusOptions(counts: Readonly<Record<string, number>> | undefined): Record<string, string> {
  const t = useTranslations();
  const text = (status: InstanceStatus) =>
    counts ? `${t(`status.${status}`)} (${counts[status] ?? 0})` : t(`status.${status}`);
  return { "": t("common.all"), ...Object.fromEntries(STATUSES.map((status) => [status, text(status)])) };
}

/** Debounces the search. */
function InstanceSearch({ value, onChange }: { value: string; onChange(value: string): void }) {
  const t = useTranslations("instances");
  const [text, setText] = useState(value);
  const sent = useRef(value);
  const report = useRef(onChange);
  report.current = onChange;
  useEffect(() => {
    // Something else changed the URL, for example the back button.
    if (value !== sent.current) {
      sent.current = value;
      setText(value);
    }
  }, [value]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      report.current(text);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <SearchField className="field wide" value={text} onChange={setText} maxLength={100}>
      <Label>{t("search")}</Label>
      <Input placeholder={t("searchPlaceholder")} />
    </SearchField>
  );
}

const COLUMNS = ["id", "name", "network", "status", "phone", "last_disconnect_reason", "created_at"] as const;

function InstanceExport({ filter }: { filter: InstanceFilter }) {
  const t = useTranslations("instances");
  const read = async (): Promise<Table> => {
    const rows: Instance[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof gateway.listInstances>> = await gateway.listInstances({
        ...toInstanceQuery(filter),
        limit: 200,
        ...(cursor && { cursor }),
      });
      rows.push(...page.data);
      cursor = page.pagination.next_cursor;
    } while (cursor !== null && rows.length < MOST_EXPORTED);
    if (cursor !== null) showToast(t("exportCut", { count: rows.length }), "info");
    return { columns: COLUMNS, rows: rows.map((row) => COLUMNS.map((column) => row[column])) };
  };
  return <ExportButton name="instances" read={read} />;
}
