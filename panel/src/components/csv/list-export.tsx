import { useMutation } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { saveFile } from "../../gateway/save-stream.ts";
import { ActionButton } from "../action-button.tsx";
import { ErrorNotice } from "../error-notice.tsx";
import { showToast } from "../toasts.tsx";
import { readEveryPage, type Table, toCsv } from "./to-csv.ts";

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
    if (isCut) showToast(t("exportCut", { count: rows.length }), "info");
    return { columns, rows: rows.map((row) => columns.map((column) => row[column])) };
  };
  return <ExportButton name={name} read={read} />;
}

export function ExportButton({ name, read }: { name: string; read(): Promise<Table> }) {
  const t = useTranslations("common");
  const save = useMutation({
    mutationFn: async () => saveFile(`${name}.csv`, new Blob([toCsv(await read())], { type: "text/csv" })),
  });
  return (
    <>
      <ActionButton isPending={save.isPending} onPress={() => save.mutate()}>
        {t("export")}
      </ActionButton>
      <ErrorNotice error={save.error} />
    </>
  );
}
