import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { Notice } from "../../components/notice.tsx";
import { PickList } from "../../components/pick-list.tsx";
import { TypedConfirm } from "../../components/typed-confirm.tsx";

const SCOPES = ["messages", "conversations", "leads", "account", "all"] as const;
type Scope = (typeof SCOPES)[number];

/** Removes what identifies people, for good. */
export function AnonymiseData({ accountName }: { accountName: string }) {
  const t = useTranslations("account.anonymise");
  const queries = useQueryClient();
  const [scope, setScope] = useState<Scope>("messages");
  const anonymise = useMutation({
    mutationFn: () => gateway.anonymizeData({ scope }),
    onSuccess: () => queries.invalidateQueries(),
  });
  const names = Object.fromEntries(SCOPES.map((one) => [one, t(`scopes.${one}`)])) as Record<Scope, string>;
  const result = anonymise.data?.data;
  const changed = Object.values(result?.affected ?? {}).reduce((all, rows) => all + rows, 0);
  return (
    <section className="plate">
      <h2>{t("title")}</h2>
      <p>{t("help")}</p>
      <PickList<Scope> label={t("scope")} value={scope} options={names} onChange={setScope} />
      <p className="hint">{t(`consequences.${scope}`)}</p>
      {result && (
        <Notice tone={result.status === "failed" ? "stop" : "go"}>
          <p>{result.status === "completed" ? t("done", { count: changed }) : t("going")}</p>
        </Notice>
      )}
      <div className="buttons">
        <TypedConfirm
          label={t("start")}
          title={t("confirmTitle", { scope: names[scope] })}
          consequence={
            <>
              <p>{t(`consequences.${scope}`)}</p>
              <p>{t("irreversible")}</p>
            </>
          }
          word={accountName}
          confirmLabel={t("confirm")}
          mutation={anonymise}
          onConfirm={() => anonymise.mutateAsync()}
        />
      </div>
    </section>
  );
}
