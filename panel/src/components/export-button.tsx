import { useMutation } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { saveFile } from "../api/save-file.ts";
import { type Table, toCsv } from "../api/to-csv.ts";
import { ActionButton } from "./action-button.tsx";
import { FaultNotice } from "./fault-notice.tsx";

/** Saves a list as a CSV file, with every page of it. */
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
      <FaultNotice error={save.error} />
    </>
  );
}
