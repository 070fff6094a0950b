import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { CodeSample } from "../../components/code-sample.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { Notice } from "../../components/notice.tsx";
import { PROVIDER_NAMES, type Provider, type TestReport } from "./integrations-queries.ts";

/** Asks the other program once, and explains its answer. */
export function IntegrationTest({ id, provider }: { id: number; provider: Provider }) {
  const t = useTranslations("integrations.test");
  const name = PROVIDER_NAMES[provider];
  const queries = useQueryClient();
  const test = useMutation({
    mutationFn: async () => (await gateway.testIntegration({ id, provider })).data,
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  return (
    <section className="plate">
      <h3>{t("title")}</h3>
      <p>{t(provider)}</p>
      <div className="buttons">
        <ActionButton kind="main" isPending={test.isPending} onPress={() => test.mutate()}>
          {test.isPending ? t("running") : t("run", { name })}
        </ActionButton>
      </div>
      <FaultNotice error={test.error} />
      {test.data && <Report report={test.data} name={name} />}
    </section>
  );
}

function Report({ report, name }: { report: TestReport; name: string }) {
  const t = useTranslations("integrations.test");
  const { success, message, status_code, duration_ms, details } = report;
  const duration = Math.round(duration_ms);
  const answered =
    status_code === null
      ? t("unanswered", { name })
      : t("answered", { name, status: String(status_code), duration });
  return (
    <>
      <Notice tone={success ? "go" : "stop"} isUrgent title={t(success ? "ok" : "failed", { name })}>
        <p>{message}</p>
        <p className="hint">{answered}</p>
      </Notice>
      {Object.keys(details).length > 0 && (
        <details>
          <summary>{t("details")}</summary>
          <CodeSample text={JSON.stringify(details, null, 2)} label={t("details")} />
        </details>
      )}
    </>
  );
}
