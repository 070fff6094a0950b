import { useMutation } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../../packages/client/src/waygate-error.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { CodeSample } from "../../components/code-sample.tsx";
import { ErrorNotice, Notice, useRequestError } from "../../components/error-notice.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { readForm } from "../../components/fields/read-search.ts";
import { useGatewayTexts } from "../../components/use-gateway-texts.ts";
import { gateway } from "../../gateway/gateway.ts";
import type { AttemptResult } from "../webhooks/explain-failure.ts";
import { useFailureCause } from "./use-alert-texts.ts";

/** Adds a webhook and shows the result of a signed test event. */
export function WebhookForm({ id }: { id: number }) {
  const t = useTranslations("send");
  const add = useMutation({ mutationFn: (url: string) => addAndTest(id, url) });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    add.mutate(readForm(event.currentTarget).url ?? "");
  };
  const { fields } = useRequestError(add.error);
  return (
    <section className="card">
      <h2>{t("hookTitle")}</h2>
      <p>{t("hookLead")}</p>
      {!fields.url && <ErrorNotice error={add.error} />}
      {add.data ? (
        <Result {...add.data} />
      ) : (
        <Form className="stack" onSubmit={submit} validationErrors={fields}>
          <FormField
            name="url"
            type="url"
            label={t("hookUrl")}
            placeholder="https://example.com/hook"
            autoComplete="off"
            maxLength={2048}
          />
          <div className="buttons">
            <ActionButton type="submit" isPending={add.isPending}>
              {t("hookSubmit")}
            </ActionButton>
          </div>
        </Form>
      )}
    </section>
  );
}

interface Failure {
  attempt: AttemptResult | undefined;
  error: WaygateError;
}

interface Tested {
  secret: string;
  status: number | null;
  durationMs: number;
  /** Undefined if the receiver accepted the test. */
  failure: Failure | undefined;
}

async function addAndTest(id: number, url: string): Promise<Tested> {
  const { data: webhook } = await gateway.createWebhook({ id, url, events: ["*"] });
  try {
    const { data } = await gateway.testWebhook({ id, webhookId: webhook.id });
    const { status_code: status, duration_ms: durationMs } = data;
    return { secret: webhook.secret, status, durationMs, failure: undefined };
  } catch (error) {
    // The webhook exists even if its test failed.
    if (!(error instanceof WaygateError)) throw error;
    const failure = { attempt: await readAttempt(id, error), error };
    return { secret: webhook.secret, status: null, durationMs: 0, failure };
  }
}

/** The attempt of a failed test, which has more details than the error. */
async function readAttempt(id: number, { details }: WaygateError): Promise<AttemptResult | undefined> {
  const logId = Number(details?.log_id);
  if (Number.isNaN(logId)) return undefined;
  return (await gateway.getDeliveryLog({ id, logId }).catch(() => undefined))?.data;
}

function Result({ secret, status, durationMs, failure }: Tested) {
  const t = useTranslations("send");
  const texts = useGatewayTexts();
  const cause = useFailureCause();
  const reasonOf = ({ attempt, error }: Failure) =>
    attempt ? cause(attempt).sentence : texts.failure(error).sentence;
  return (
    <div className="stack">
      <Notice tone={failure === undefined ? "success" : "danger"} isUrgent>
        <p>
          {failure === undefined
            ? t("hookOk", { status: String(status), duration: Math.round(durationMs) })
            : t("hookFailed", { reason: reasonOf(failure) })}
        </p>
      </Notice>
      <h3>{t("hookSecret")}</h3>
      <p className="hint">{t("hookSecretHelp")}</p>
      <CodeSample text={secret} label={t("hookSecret")} />
      <a href="/docs/waygate/verifying-webhooks">{t("hookGuide")}</a>
    </div>
  );
}
