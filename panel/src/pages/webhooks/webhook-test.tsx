import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../../packages/client/src/waygate-error.ts";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { CodeSample } from "../../components/code-sample.tsx";
import { ErrorNotice, Notice } from "../../components/error-notice.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { FailureNotice } from "./failure-notice.tsx";
import type { Attempt } from "./webhooks-queries.ts";

/** Sends a signed test event and shows the response. */
export function WebhookTest({ id, webhookId, isMain }: { id: number; webhookId: number; isMain?: boolean }) {
  const t = useTranslations("webhooks.test");
  const queries = useQueryClient();
  const test = useMutation({
    mutationFn: () => testAndRead(id, webhookId),
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  return (
    <section className="card">
      <h3>{t("title")}</h3>
      <p>{t("lead")}</p>
      <div className="buttons">
        <ActionButton
          kind={isMain ? "primary" : "secondary"}
          isPending={test.isPending}
          onPress={() => test.mutate()}
        >
          {test.isPending ? t("sending") : t("send")}
        </ActionButton>
      </div>
      <ErrorNotice error={test.error} />
      {test.data && <TestResult id={id} attempt={test.data} />}
    </section>
  );
}

/** The attempt of a test, even if the test failed. */
async function testAndRead(id: number, webhookId: number): Promise<Attempt> {
  const logId = await gateway.testWebhook({ id, webhookId }).then(
    ({ data }) => data.log_id,
    (error: unknown) => {
      const logged = error instanceof WaygateError ? Number(error.details?.log_id) : Number.NaN;
      if (Number.isNaN(logged)) throw error;
      return logged;
    },
  );
  return (await gateway.getDeliveryLog({ id, logId })).data;
}

function TestResult({ id, attempt }: { id: number; attempt: Attempt }) {
  const t = useTranslations("webhooks.test");
  const { success, status_code, duration_ms, response_body } = attempt;
  const more = (
    <LinkButton to="/instances/$id/webhooks/attempts/$logId" params={{ id, logId: attempt.id }}>
      {t("details")}
    </LinkButton>
  );
  return (
    <>
      {success ? (
        <Notice
          tone="success"
          isUrgent
          title={t("ok", { status: String(status_code), duration: duration_ms })}
        >
          <p>{t("okHelp")}</p>
          <div className="buttons">{more}</div>
        </Notice>
      ) : (
        <FailureNotice attempt={attempt}>{more}</FailureNotice>
      )}
      {status_code !== null && (
        <>
          <h4>{t("answer")}</h4>
          {response_body ? (
            <CodeSample text={response_body} label={t("answer")} />
          ) : (
            <p className="hint">{t("noBody")}</p>
          )}
        </>
      )}
    </>
  );
}
