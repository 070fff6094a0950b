import { useTranslations } from "use-intl";
import { readEveryPage } from "../api/read-every-page.ts";
import { ExportButton } from "./export-button.tsx";
import { showToast } from "./toasts.tsx";

interface ListExportProps<Row extends object> {
  name: string;
  columns: readonly (keyof Row & string)[];
  readPage: Parameters<typeof readEveryPage<Row>>[0];
}

/** Saves every page of a list as CSV, and says when the list is longer than the file. */
export function ListExport<Row extends object>({ name, columns, readPage }: ListExportProps<Row>) {
  const t = useTranslations("shell");
  const read = async () => {
    const { rows, isCut } = await readEveryPage(readPage);
    if (isCut) showToast(t("exportCut", { count: rows.length }), "note");
    return { columns, rows: rows.map((row) => columns.map((column) => row[column])) };
  };
  return <ExportButton name={name} read={read} />;
}
