import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { saveStream } from "../../api/save-stream.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { Notice } from "../../components/notice.tsx";
import { useSizeFormat } from "../../components/use-size-format.ts";
import { dataRequestsQuery } from "./account-queries.ts";

/** Takes all data of the account out as one file. */
export function ExportData() {
  const t = useTranslations("account.exportData");
  const queries = useQueryClient();
  const size = useSizeFormat();
  const [received, setReceived] = useState(0);
  const save = useMutation({
    mutationFn: async () => {
      setReceived(0);
      const { stream } = await gateway.exportData();
      const name = `waygate-export-${new Date().toISOString().slice(0, 10)}.json`;
      const end = await saveStream(stream, { name, type: "application/json", onProgress: setReceived });
      // The document ends with its last brace only if it is whole.
      return { isWhole: end.trimEnd().endsWith("}") };
    },
    onSettled: () => queries.invalidateQueries({ queryKey: dataRequestsQuery.queryKey }),
  });
  return (
    <section className="plate">
      <h2>{t("title")}</h2>
      <p>{t("help")}</p>
      <FaultNotice error={save.error} />
      {save.data && (
        <Notice tone={save.data.isWhole ? "go" : "stop"} isUrgent={!save.data.isWhole}>
          <p>{t(save.data.isWhole ? "done" : "broken", { size: size(received) })}</p>
        </Notice>
      )}
      <div className="buttons">
        <ActionButton isPending={save.isPending} onPress={() => save.mutate()}>
          {t("start")}
        </ActionButton>
        {save.isPending && (
          <p className="hint" role="status">
            {t("progress", { size: size(received) })}
          </p>
        )}
      </div>
    </section>
  );
}
