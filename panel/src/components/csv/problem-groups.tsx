import { type FormEvent, useState } from "react";
import { Input, TextField } from "react-aria-components";
import { useFormatter, useTranslations } from "use-intl";
import { ActionButton } from "../action-button.tsx";
import { ExportButton } from "./list-export.tsx";

export interface ShownProblem {
  key: string;
  /** Line of the file, from 1; undefined for a contact. */
  line: number | undefined;
  value: string;
  text: string;
  /** Initial text of the correction field; undefined if nothing can be corrected. */
  correction?: string | undefined;
}

interface ProblemGroupsProps {
  problems: readonly ShownProblem[];
  onCorrect?: (line: number, phone: string) => void;
}

/** Larger groups start collapsed. */
const OPEN_AT_MOST = 10;
const SHOWN = 50;

/** Problems of a file's lines in one group for each kind, the largest first. */
export function ProblemGroups({ problems, onCorrect }: ProblemGroupsProps) {
  const format = useFormatter();
  const sorted = problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const groups = [...new Set(sorted.map(({ text }) => text))]
    .map((text) => ({ text, rows: sorted.filter((one) => one.text === text) }))
    .toSorted((a, b) => b.rows.length - a.rows.length);
  const read = async () => ({
    columns: ["line", "value", "problem"],
    rows: sorted.map(({ line, value, text }) => [line ?? "", value, text]),
  });
  return (
    <>
      {groups.map(({ text, rows }) => (
        <details key={text} className="problem-group" open={rows.length <= OPEN_AT_MOST}>
          <summary>
            <strong>{format.number(rows.length)}</strong> {text}
          </summary>
          <ProblemTable rows={rows} {...(onCorrect && { onCorrect })} />
        </details>
      ))}
      <div className="buttons">
        <ExportButton name="problems" read={read} />
      </div>
    </>
  );
}

interface ProblemTableProps {
  rows: readonly ShownProblem[];
  onCorrect?: (line: number, phone: string) => void;
}

function ProblemTable({ rows, onCorrect }: ProblemTableProps) {
  const t = useTranslations("csv");
  const isFile = rows.some(({ line }) => line !== undefined);
  const correct = rows.some(({ correction }) => correction !== undefined) ? onCorrect : undefined;
  return (
    <>
      <table className="table problem-table">
        <thead>
          <tr>
            {isFile && <th scope="col">{t("problemLine")}</th>}
            <th scope="col">{t("problemValue")}</th>
            {correct && <th scope="col">{t("correct")}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map(({ key, line, value, correction }) => (
            <tr key={key}>
              {isFile && <td>{line}</td>}
              <td className="code">{value}</td>
              {correct && (
                <td>
                  {line !== undefined && correction !== undefined && (
                    <Correction line={line} first={correction} onCorrect={(phone) => correct(line, phone)} />
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > SHOWN && <p className="hint">{t("shown", { shown: SHOWN, total: rows.length })}</p>}
    </>
  );
}

interface CorrectionProps {
  line: number;
  first: string;
  onCorrect(phone: string): void;
}

function Correction({ line, first, onCorrect }: CorrectionProps) {
  const t = useTranslations("csv");
  const [typed, setTyped] = useState(first);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    focusNextField(event.currentTarget);
    onCorrect(typed.trim());
  };
  return (
    <form className="correction" onSubmit={submit}>
      <TextField
        aria-label={t("correction", { line: String(line) })}
        value={typed}
        onChange={setTyped}
        type="tel"
        maxLength={200}
        autoComplete="off"
        className="field"
      >
        <Input />
      </TextField>
      <ActionButton type="submit">{t("correct")}</ActionButton>
    </form>
  );
}

/** Moves the focus to the next line, because the corrected one leaves the table. */
function focusNextField(form: HTMLFormElement): void {
  const fields = [...document.querySelectorAll<HTMLInputElement>(".correction input")];
  const own = fields.findIndex((field) => form.contains(field));
  (fields[own + 1] ?? fields[own - 1])?.focus();
}
