import "./crm.css";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import type { CsvFile } from "../../api/read-csv.ts";
import { toCsv } from "../../api/to-csv.ts";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { CsvPicker } from "../../components/csv-picker.tsx";
import { FaultNotice, Notice } from "../../components/fault-notice.tsx";
import { formatPhone } from "../../components/formats.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { PickList } from "../../components/pick-list.tsx";
import { useGatewayWords } from "../../components/use-gateway-words.ts";
import { fieldsQuery } from "./crm-queries.ts";
import { COLUMNS, guessColumns, toImportTable } from "./import-columns.ts";

const MAX_ROWS = 10_000;

/** Contacts from a CSV file, with its columns mapped before anything is stored. */
export function ImportPage() {
  const t = useTranslations("crm");
  const [csv, setCsv] = useState<CsvFile>();
  const [targets, setTargets] = useState<readonly string[]>([]);
  const fields = useQuery(fieldsQuery);
  const names = fields.data?.map(({ name }) => name) ?? [];
  const save = useImport();
  const read = (next: CsvFile | undefined) => {
    save.reset();
    setCsv(next);
    setTargets(next ? guessColumns(next.columns, names) : []);
  };
  const isReady = targets.includes("phone") || targets.includes("id");
  return (
    <>
      <PageHead title={t("importTitle")} lead={t("importLead")} trail={<Link to="/crm">{t("title")}</Link>} />
      <section className="plate" aria-label={t("importTitle")}>
        <CsvPicker maxRows={MAX_ROWS} csv={csv} onRead={read} />
        {csv && !save.data && (
          <>
            <TargetList csv={csv} targets={targets} fieldNames={names} onChange={setTargets} />
            {!isReady && <p className="fault">{t("importNeedsPhone")}</p>}
            <FaultNotice error={save.error} />
            <div className="buttons">
              <ActionButton
                kind="main"
                isDisabled={!isReady}
                isPending={save.isPending}
                onPress={() => save.mutate({ csv, targets })}
              >
                {save.isPending ? t("importing") : t("importRows", { count: csv.rows.length })}
              </ActionButton>
            </div>
          </>
        )}
        {save.data && csv && (
          <ImportResult
            result={save.data}
            csv={csv}
            onConfirm={() => save.mutate({ csv, targets, confirms: true })}
          />
        )}
      </section>
    </>
  );
}

interface ImportInput {
  csv: CsvFile;
  targets: readonly string[];
  /** Numbers without a country code get the one that the gateway assumes. */
  confirms?: boolean;
}

function useImport() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ csv, targets, confirms = false }: ImportInput) => {
      const bytes = new TextEncoder().encode(toCsv(toImportTable(csv, targets)));
      const file = { bytes, file_name: "contacts.csv", mime_type: "text/csv" };
      return (await gateway.importLeads({ file, confirm_assumed: confirms })).data;
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["crm"] }),
  });
}

interface TargetListProps {
  csv: CsvFile;
  targets: readonly string[];
  fieldNames: readonly string[];
  onChange(targets: readonly string[]): void;
}

function TargetList({ csv, targets, fieldNames, onChange }: TargetListProps) {
  const t = useTranslations();
  const known = Object.fromEntries(COLUMNS.map((name) => [name, t(`crm.column.${name}`)]));
  const fields = Object.fromEntries(fieldNames.map((name) => [`custom_fields.${name}`, name]));
  return (
    <fieldset className="stack">
      <legend className="label">{t("crm.mapTitle")}</legend>
      <div className="column-map">
        {csv.columns.map((name, at) => {
          const target = targets[at] ?? "";
          const own = name === "" ? {} : { [`custom_fields.${name}`]: t("crm.newField", { name }) };
          return (
            <PickList
              // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have one name
              key={at}
              label={name || t("csv.unnamed", { number: at + 1 })}
              value={target}
              options={{ "": t("crm.leaveOut"), ...known, ...own, ...fields }}
              onChange={(next) =>
                onChange(csv.columns.map((_, one) => (one === at ? next : (targets[one] ?? ""))))
              }
            />
          );
        })}
      </div>
    </fieldset>
  );
}

interface ImportResultProps {
  result: Awaited<ReturnType<typeof gateway.importLeads>>["data"];
  csv: CsvFile;
  onConfirm(): void;
}

function ImportResult({ result, csv, onConfirm }: ImportResultProps) {
  const t = useTranslations("crm");
  const words = useGatewayWords();
  const { created, updated, unchanged, invalid, invalid_count, warnings, warning_count } = result;
  // A row of the sent table is one line; the file may have others between.
  const lineOf = (line: number) => csv.rows[line - 2]?.line ?? line;
  const problems = [
    ...csv.broken.map(({ line, text, fault }) => ({ line, value: text, reason: t(`importFault.${fault}`) })),
    ...invalid.map(({ line, value, reason }) => ({
      line: lineOf(line),
      value,
      reason: words.reason(reason, lineOf),
    })),
    ...warnings.map(({ line, value, suggestion }) => ({
      line: lineOf(line),
      value,
      reason: t("withoutCountry", { number: formatPhone(suggestion) }),
    })),
  ].sort((a, b) => a.line - b.line);
  const count = invalid_count + warning_count + csv.broken.length;
  return (
    <>
      <Notice tone={count === 0 ? "go" : "note"} isUrgent>
        <p>{t("imported", { created, updated, unchanged, invalid: count })}</p>
      </Notice>
      {warning_count > 0 && (
        <div className="buttons">
          <ActionButton onPress={onConfirm}>{t("addCountry", { count: warning_count })}</ActionButton>
        </div>
      )}
      {problems.length > 0 && (
        <div className="problem-frame">
          <table className="table problem-table">
            <thead>
              <tr>
                <th scope="col">{t("problemLine")}</th>
                <th scope="col">{t("problemRow")}</th>
                <th scope="col">{t("problem")}</th>
              </tr>
            </thead>
            <tbody>
              {problems.map(({ line, value, reason }) => (
                <tr key={line}>
                  <td>{line}</td>
                  <td className="code">{value}</td>
                  <td>{reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div className="buttons">
        <LinkButton to="/crm" search={{}} kind="main">
          {t("showContacts")}
        </LinkButton>
      </div>
    </>
  );
}
