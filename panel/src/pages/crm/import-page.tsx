import "./crm.css";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useTranslations } from "use-intl";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { correctCell } from "../../components/csv/correct-cell.ts";
import { CsvPicker } from "../../components/csv/csv-picker.tsx";
import { NumberCheck } from "../../components/csv/number-check.tsx";
import { ProblemGroups } from "../../components/csv/problem-groups.tsx";
import type { CsvFile } from "../../components/csv/read-csv.ts";
import { toCsv } from "../../components/csv/to-csv.ts";
import { ErrorNotice, Notice } from "../../components/error-notice.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { formatPhone } from "../../components/formats.tsx";
import { PageHeader } from "../../components/page-header.tsx";
import { useGatewayTexts } from "../../components/use-gateway-texts.ts";
import { gateway } from "../../gateway/gateway.ts";
import { AreaTexts } from "../../shell/area-texts.tsx";
import { fieldsQuery } from "./crm-queries.ts";
import { COLUMNS, createLineFinder, guessColumns, pickNumbers, toImportTable } from "./import-columns.ts";

const MAX_ROWS = 10_000;

/** Imports contacts from a CSV file. Nothing is stored before columns and numbers are checked. */
export function ImportPage() {
  const t = useTranslations("crm");
  return (
    <>
      <PageHeader
        title={t("importTitle")}
        lead={t("importLead")}
        breadcrumbs={<Link to="/crm">{t("title")}</Link>}
      />
      <section className="card" aria-label={t("importTitle")}>
        <AreaTexts area="csv">
          <FileImport />
        </AreaTexts>
      </section>
    </>
  );
}

function FileImport() {
  const t = useTranslations("crm");
  const [csv, setCsv] = useState<CsvFile>();
  const [targets, setTargets] = useState<readonly string[]>([]);
  const [addsCountry, setAddsCountry] = useState(false);
  const fields = useQuery(fieldsQuery);
  const names = fields.data?.map(({ name }) => name) ?? [];
  const save = useImport();
  const read = (next: CsvFile | undefined) => {
    save.reset();
    setCsv(next);
    setAddsCountry(false);
    setTargets(next ? guessColumns(next.columns, names) : []);
  };
  const isReady = targets.includes("phone") || targets.includes("id");
  return (
    <>
      <CsvPicker maxRows={MAX_ROWS} csv={csv} onRead={read} />
      {csv && !save.data && (
        <>
          <TargetList csv={csv} targets={targets} fieldNames={names} onChange={setTargets} />
          {!isReady && <p className="field-error">{t("importNeedsPhone")}</p>}
          {targets.includes("phone") && (
            <FileCheck
              csv={csv}
              targets={targets}
              addsCountry={addsCountry}
              onAddCountry={() => setAddsCountry(true)}
              onCorrect={setCsv}
            />
          )}
          <ErrorNotice error={save.error} />
          <div className="buttons">
            <ActionButton
              kind="primary"
              isDisabled={!isReady}
              isPending={save.isPending}
              onPress={() => save.mutate({ csv, targets, confirms: addsCountry })}
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
          targets={targets}
          onConfirm={() => save.mutate({ csv, targets, confirms: true })}
        />
      )}
    </>
  );
}

interface FileCheckProps {
  csv: CsvFile;
  targets: readonly string[];
  addsCountry: boolean;
  onAddCountry(): void;
  onCorrect(csv: CsvFile): void;
}

function FileCheck({ csv, targets, addsCountry, onAddCountry, onCorrect }: FileCheckProps) {
  const { numbers, problems } = useMemo(() => pickNumbers(csv, targets), [csv, targets]);
  return (
    <NumberCheck
      numbers={numbers}
      local={problems}
      how={{ purpose: "import", addsCountry }}
      onAddCountry={onAddCountry}
      onCorrect={(line, phone) => onCorrect(correctCell(csv, line, targets.indexOf("phone"), phone))}
    />
  );
}

interface ImportInput {
  csv: CsvFile;
  targets: readonly string[];
  /** Numbers without a country code get the gateway's default one. */
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
  const hasIds = guessColumns(csv.columns, []).includes("id");
  const offered = COLUMNS.filter((name) => name !== "id" || hasIds);
  const known = Object.fromEntries(offered.map((name) => [name, t(`crm.column.${name}`)]));
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
  targets: readonly string[];
  onConfirm(): void;
}

function ImportResult({ result, csv, targets, onConfirm }: ImportResultProps) {
  const t = useTranslations();
  const texts = useGatewayTexts();
  const { created, updated, unchanged, invalid, invalid_count, warnings, warning_count } = result;
  const lineOf = createLineFinder(csv, targets);
  const problems = [
    ...csv.broken.map(({ line, text, problem }) => ({
      line,
      value: text,
      text: t(`csv.problemHelp.${problem}`),
    })),
    ...invalid.map(({ line, value, field, code, params, reason }) => {
      const shown = params.line === undefined ? params : { ...params, line: lineOf(Number(params.line)) };
      const issue = field === null ? reason : reason.slice(field.length + 2);
      const told = texts.issue({ code, params: shown, issue });
      return { line: lineOf(line), value, text: field === null ? told : `${field}: ${told}` };
    }),
    ...warnings.map(({ line, value, suggestion }) => ({
      line: lineOf(line),
      value,
      text: t("crm.withoutCountry", { number: formatPhone(suggestion) }),
    })),
  ].map((one) => ({ ...one, key: `line ${one.line}` }));
  const count = invalid_count + warning_count + csv.broken.length;
  return (
    <>
      <Notice tone={count === 0 ? "success" : "info"} isUrgent>
        <p>{t("crm.imported", { created, updated, unchanged, invalid: count })}</p>
      </Notice>
      {warning_count > 0 && (
        <div className="buttons">
          <ActionButton onPress={onConfirm}>{t("crm.addCountry", { count: warning_count })}</ActionButton>
        </div>
      )}
      {problems.length > 0 && <ProblemGroups problems={problems} />}
      <div className="buttons">
        <LinkButton to="/crm" search={{}} kind="primary">
          {t("crm.showContacts")}
        </LinkButton>
      </div>
    </>
  );
}
