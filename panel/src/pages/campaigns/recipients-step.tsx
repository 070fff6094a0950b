import { useState } from "react";
import { Label, Radio, RadioGroup } from "react-aria-components";
import { useTranslations } from "use-intl";
import type { CsvFile } from "../../api/read-csv.ts";
import { CsvPicker } from "../../components/csv-picker.tsx";
import type { CampaignDraft, PickedRecipient } from "./campaign-draft.ts";
import { ColumnMapping } from "./column-mapping.tsx";
import { type CsvMapping, guessMapping, pickFromCsv } from "./csv-mapping.ts";
import { LeadPicker } from "./lead-picker.tsx";
import { RecipientCheck } from "./recipient-check.tsx";

const SOURCES = ["csv", "leads"] as const;
type Source = (typeof SOURCES)[number];
const MAX_ROWS = 50_000;
const NO_RECIPIENTS: readonly PickedRecipient[] = [];

interface RecipientsStepProps {
  draft: CampaignDraft;
  /** The recipients that the campaign has already. */
  numStored: number;
  onPick(recipients: readonly PickedRecipient[]): void;
}

/** Who gets the message: from a file or from the contacts, with what is wrong before anything is stored. */
export function RecipientsStep({ draft, numStored, onPick }: RecipientsStepProps) {
  const t = useTranslations("campaigns");
  const [source, setSource] = useState<Source>("csv");
  const choose = (value: string) => {
    setSource(value as Source);
    onPick(NO_RECIPIENTS);
  };
  const consent = draft.needsConsent ? draft.consentPurpose.trim() : "";
  return (
    <section className="plate" aria-label={t("steps.recipients")}>
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
      {source === "csv" ? (
        <CsvRecipients consent={consent} onPick={onPick} />
      ) : (
        <LeadPicker consent={consent} onPick={onPick} />
      )}
    </section>
  );
}

interface CsvRecipientsProps {
  consent: string;
  onPick(recipients: readonly PickedRecipient[]): void;
}

interface MappedFile {
  csv: CsvFile;
  mapping: CsvMapping;
  picked: ReturnType<typeof pickFromCsv>;
}

function CsvRecipients({ consent, onPick }: CsvRecipientsProps) {
  const [mapped, setMapped] = useState<MappedFile>();
  const map = (csv: CsvFile, mapping: CsvMapping) => {
    const picked = pickFromCsv(csv, mapping);
    setMapped({ csv, mapping, picked });
    onPick(picked.recipients);
  };
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
        <RecipientCheck
          recipients={mapped.picked.recipients}
          local={mapped.picked.problems}
          consent={consent}
        />
      )}
    </>
  );
}
