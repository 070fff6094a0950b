import { useRef, useState } from "react";
import { DropZone, FileTrigger, Text } from "react-aria-components";
import { useTranslations } from "use-intl";
import { findColumnMeanings } from "../../../../src/platform/text/find-column-meanings.ts";
import { ActionButton } from "../action-button.tsx";
import { Notice } from "../error-notice.tsx";
import { PickList } from "../fields/pick-list.tsx";
import { LoadingState } from "../page-header.tsx";
import type { CsvChoice, CsvError, CsvFile } from "./read-csv.ts";

interface CsvPickerProps {
  maxRows: number;
  csv: CsvFile | undefined;
  onRead(csv: CsvFile | undefined): void;
}

const DETECT: CsvChoice = { delimiter: "", encoding: "", head: "" };
const SAMPLE_ROWS = 4;
const MOST_SHOWN = 200;

/** Reads a CSV file in the browser. Nothing is uploaded. */
export function CsvPicker({ maxRows, csv, onRead }: CsvPickerProps) {
  const t = useTranslations("csv");
  const { isReading, error, choice, open, change } = useCsvFile(maxRows, onRead);
  return (
    <div className="stack">
      <DropZone
        className="file-drop"
        aria-label={t("drop")}
        getDropOperation={() => "copy"}
        onDrop={async ({ items }) => {
          const item = items.find(({ kind }) => kind === "file");
          if (item?.kind === "file") open(await item.getFile());
        }}
      >
        <Text slot="label">{csv === undefined ? t("drop") : t("opened", { name: csv.name })}</Text>
        <FileTrigger
          acceptedFileTypes={[".csv", ".tsv", ".txt", ".vcf", "text/csv"]}
          onSelect={(files) => files?.[0] && open(files[0])}
        >
          <ActionButton>{t(csv === undefined ? "choose" : "chooseOther")}</ActionButton>
        </FileTrigger>
        <p className="hint">{t("help")}</p>
      </DropZone>
      {isReading && <LoadingState />}
      {error && (
        <Notice tone="danger" isUrgent>
          <p>{t(`errors.${error}`, { max: maxRows })}</p>
        </Notice>
      )}
      {csv && !isReading && <CsvFormatPicker csv={csv} choice={choice} onChange={change} />}
      {csv && !isReading && choice.head === "" && (
        <FirstLineNotice csv={csv} onChange={(head) => change({ ...choice, head })} />
      )}
      {csv && !isReading && <CsvSample csv={csv} />}
    </div>
  );
}

function useCsvFile(maxRows: number, onRead: CsvPickerProps["onRead"]) {
  const [source, setSource] = useState<{ file: File; choice: CsvChoice }>();
  const [isReading, setReading] = useState(false);
  const [error, setError] = useState<CsvError["kind"] | "unreadable">();
  const latest = useRef<symbol>(undefined);
  const read = async (file: File, choice: CsvChoice) => {
    const own = Symbol("read");
    latest.current = own;
    setSource({ file, choice });
    setReading(true);
    // Loads the parser with the first file: most visits need none.
    const reader = await import("./read-csv.ts");
    const found = await reader.readCsv(file, choice, maxRows).catch((error: unknown) => error);
    // The user has chosen another file or format since.
    if (latest.current !== own) return;
    const isError = found instanceof Error;
    setError(found instanceof reader.CsvError ? found.kind : isError ? "unreadable" : undefined);
    onRead(isError ? undefined : (found as CsvFile));
    setReading(false);
  };
  return {
    isReading,
    error,
    choice: source?.choice ?? DETECT,
    open: (file: File) => void read(file, DETECT),
    change: (choice: CsvChoice) => source && void read(source.file, choice),
  };
}

interface FormatProps {
  csv: CsvFile;
  choice: CsvChoice;
  onChange(choice: CsvChoice): void;
}

function CsvFormatPicker({ csv, choice, onChange }: FormatProps) {
  const t = useTranslations("csv");
  const delimiters = { ",": t("comma"), ";": t("semicolon"), "\t": t("tab"), "|": t("bar") };
  const encodings = {
    "utf-8": "UTF-8",
    "utf-16le": "UTF-16 LE",
    "utf-16be": "UTF-16 BE",
    "windows-1252": t("western"),
  };
  const heads = { names: t("names"), entry: t("entry") };
  return (
    <div className="pickers">
      <PickList
        label={t("delimiter")}
        value={choice.delimiter}
        options={{ "": t("detected", { what: delimiters[csv.delimiter] }), ...delimiters }}
        onChange={(delimiter) => onChange({ ...choice, delimiter })}
      />
      <PickList
        label={t("encoding")}
        value={choice.encoding}
        options={{ "": t("detected", { what: encodings[csv.encoding] }), ...encodings }}
        onChange={(encoding) => onChange({ ...choice, encoding })}
      />
      <PickList
        label={t("firstLine")}
        value={choice.head}
        options={{ "": t("detected", { what: heads[csv.hasHead ? "names" : "entry"] }), ...heads }}
        onChange={(head) => onChange({ ...choice, head })}
      />
    </div>
  );
}

interface FirstLineProps {
  csv: CsvFile;
  onChange(head: CsvChoice["head"]): void;
}

/** Asks whether an unusual first line is a header or an entry. */
function FirstLineNotice({ csv: { columns, rows, hasHead }, onChange }: FirstLineProps) {
  const t = useTranslations("csv");
  if (hasHead && findColumnMeanings(columns).includes("phone")) return null;
  const cells = hasHead ? columns : (rows[0]?.cells ?? []);
  return (
    <Notice tone="info">
      <p>{t("firstLineIs", { text: cells.join(", ").slice(0, MOST_SHOWN) })}</p>
      <p>{t("firstLineIsHead")}</p>
      <div className="buttons">
        <ActionButton onPress={() => onChange("names")}>{t("itNames")}</ActionButton>
        <ActionButton onPress={() => onChange("entry")}>{t("itIsEntry")}</ActionButton>
      </div>
    </Notice>
  );
}

/** The first rows, which show a wrong separator or encoding. */
function CsvSample({ csv }: { csv: CsvFile }) {
  const t = useTranslations("csv");
  return (
    <div className="stack">
      <p>{t("rows", { rows: csv.rows.length + csv.broken.length, columns: csv.columns.length })}</p>
      {/* biome-ignore-start lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it */}
      <section className="table-frame" tabIndex={0} aria-label={t("sample")}>
        {/* biome-ignore-end lint/a11y/noNoninteractiveTabindex: see above */}
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t("line")}</th>
              {csv.columns.map((name, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have one name
                <th key={at} scope="col">
                  {name || t("unnamed", { number: at + 1 })}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {csv.rows.slice(0, SAMPLE_ROWS).map(({ line, cells }) => (
              <tr key={line}>
                <td className="hint">{line}</td>
                {csv.columns.map((_, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have one name
                  <td key={at}>{cells[at] ?? ""}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}
