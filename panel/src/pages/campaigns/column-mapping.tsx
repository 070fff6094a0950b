import { useTranslations } from "use-intl";
import { CheckList } from "../../components/check-list.tsx";
import { PickList } from "../../components/pick-list.tsx";
import type { CsvMapping } from "./csv-mapping.ts";

interface ColumnMappingProps {
  columns: readonly string[];
  mapping: CsvMapping;
  onChange(mapping: CsvMapping): void;
}

/** Says which column has the number, and which ones the text can use. */
export function ColumnMapping({ columns, mapping, onChange }: ColumnMappingProps) {
  const t = useTranslations();
  const nameOf = (at: number) => columns[at] || t("csv.unnamed", { number: at + 1 });
  const options = Object.fromEntries(columns.map((_, at) => [`#${at}`, nameOf(at)]));
  const others = columns.map((_, at) => at).filter((at) => at !== mapping.phone && columns[at] !== "");
  const choosePhone = (value: string) => {
    const phone = value === "" ? undefined : Number(value.slice(1));
    onChange({ phone, variables: mapping.variables.filter((at) => at !== phone) });
  };
  return (
    <div className="stack">
      <PickList
        label={t("campaigns.phoneColumn")}
        value={mapping.phone === undefined ? "" : `#${mapping.phone}`}
        options={{ "": t("campaigns.choosePhoneColumn"), ...options }}
        onChange={choosePhone}
      />
      {others.length > 0 && (
        <CheckList
          label={t("campaigns.variableColumns")}
          hint={t("campaigns.variableColumnsHint")}
          options={others.map((at) => ({ value: String(at), text: nameOf(at) }))}
          value={mapping.variables.map(String)}
          onChange={(chosen) => onChange({ ...mapping, variables: chosen.map(Number).sort((a, b) => a - b) })}
        />
      )}
    </div>
  );
}
