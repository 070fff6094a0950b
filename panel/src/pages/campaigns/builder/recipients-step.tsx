import { useState } from "react";
import { Label, Radio, RadioGroup } from "react-aria-components";
import { useTranslations } from "use-intl";
import { correctCell } from "../../../components/csv/correct-cell.ts";
import { CsvPicker } from "../../../components/csv/csv-picker.tsx";
import { type CheckOptions, NumberCheck } from "../../../components/csv/number-check.tsx";
import type { CsvFile } from "../../../components/csv/read-csv.ts";
import { CheckList } from "../../../components/fields/check-field.tsx";
import { PickList } from "../../../components/fields/pick-list.tsx";
import { AreaTexts } from "../../../shell/area-texts.tsx";
import type { CampaignDraft, PickedRecipient } from "./campaign-draft.ts";
import { type CsvMapping, guessMapping, pickFromCsv } from "./csv-mapping.ts";
import { LeadPicker } from "./lead-picker.tsx";

const SOURCES = ["csv", "leads"] as const;
type Source = (typeof SOURCES)[number];
const MAX_ROWS = 50_000;
const NO_RECIPIENTS: readonly PickedRecipient[] = [];

interface RecipientsStepProps {
  draft: CampaignDraft;
  /** Recipients already stored in the campaign. */
  numStored: number;
  onPick(recipients: readonly PickedRecipient[], isCorrection?: boolean): void;
  onAddCountry(): void;
}

/** Recipients from a file or the contacts, checked before anything is stored. */
export function RecipientsStep({ draft, numStored, onPick, onAddCountry }: RecipientsStepProps) {
  const t = useTranslations("campaigns");
  const [source, setSource] = useState<Source>("csv");
  const choose = (value: string) => {
    setSource(value as Source);
    onPick(NO_RECIPIENTS);
  };
  const how: CheckOptions = {
    purpose: "campaign",
    consent: draft.needsConsent ? draft.consentPurpose.trim() : "",
    instance: draft.instance,
    addsCountry: draft.addsCountry,
  };
  return (
    <section className="card" aria-label={t("steps.recipients")}>
      {numStored > 0 && <p>{t("storedRecipients", { count: numStored })}</p>}
      <RadioGroup className="choices" value={source} onChange={choose}>
        <Label className="label">{t("source")}</Label>
        <div className="choice-pair">
          {SOURCES.map((value) => (
            <Radio key={value} value={value} className="choice">
              <strong>{t(`sources.${value}`)}</strong>
              <span className="hint">{t(`sourceHelp.${value}`)}</span>
            </Radio>
          ))}
        </div>
      </RadioGroup>
      <AreaTexts area="csv">
        {source === "csv" ? (
          <CsvRecipients how={how} onPick={onPick} onAddCountry={onAddCountry} />
        ) : (
          <LeadPicker how={how} onPick={onPick} />
        )}
      </AreaTexts>
    </section>
  );
}

interface CsvRecipientsProps {
  how: CheckOptions;
  onPick(recipients: readonly PickedRecipient[], isCorrection?: boolean): void;
  onAddCountry(): void;
}

interface MappedFile {
  csv: CsvFile;
  mapping: CsvMapping;
  picked: ReturnType<typeof pickFromCsv>;
}

function CsvRecipients({ how, onPick, onAddCountry }: CsvRecipientsProps) {
  const [mapped, setMapped] = useState<MappedFile>();
  const map = (csv: CsvFile, mapping: CsvMapping, isCorrection = false) => {
    const picked = pickFromCsv(csv, mapping);
    setMapped({ csv, mapping, picked });
    onPick(picked.recipients, isCorrection);
  };
  const correct = ({ csv, mapping }: MappedFile, line: number, phone: string) =>
    map(correctCell(csv, line, mapping.phone ?? 0, phone), mapping, true);
  const read = (csv: CsvFile | undefined) => {
    if (csv !== undefined) return map(csv, guessMapping(csv));
    setMapped(undefined);
    onPick(NO_RECIPIENTS);
  };
  return (
    <>
      <CsvPicker maxRows={MAX_ROWS} csv={mapped?.csv} onRead={read} />
      {mapped && (
        <ColumnMapping
          columns={mapped.csv.columns}
          mapping={mapped.mapping}
          onChange={(mapping) => map(mapped.csv, mapping)}
        />
      )}
      {mapped?.mapping.phone !== undefined && (
        <NumberCheck
          numbers={mapped.picked.recipients}
          local={mapped.picked.problems}
          how={how}
          onAddCountry={onAddCountry}
          onCorrect={(line, phone) => correct(mapped, line, phone)}
        />
      )}
    </>
  );
}

interface ColumnMappingProps {
  columns: readonly string[];
  mapping: CsvMapping;
  onChange(mapping: CsvMapping): void;
}

function ColumnMapping({ columns, mapping, onChange }: ColumnMappingProps) {
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
