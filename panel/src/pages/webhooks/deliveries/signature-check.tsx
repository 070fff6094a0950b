import { useMutation } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { CodeSample } from "../../../components/code-sample.tsx";
import { Notice } from "../../../components/error-notice.tsx";
import { FormField } from "../../../components/fields/form-field.tsx";
import { readForm } from "../../../components/fields/read-search.ts";
import { type SignatureCheck as Check, checkSignature } from "../../../gateway/check-signature.ts";
import type { Attempt } from "../webhooks-queries.ts";

const STEPS = ["raw", "key", "mac", "compare", "age"] as const;

/** Verifies this delivery in the browser with the user's secret. */
export function SignatureCheck({ attempt, isOwnFormat }: { attempt: Attempt; isOwnFormat: boolean }) {
  const t = useTranslations("webhooks.check");
  const check = useMutation({
    mutationFn: ({ secret = "", signature = "", timestamp = "" }: Partial<Record<string, string>>) =>
      checkSignature({
        secret,
        signature,
        timestamp,
        eventId: attempt.event_id,
        body: JSON.stringify(attempt.request_payload),
      }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    check.mutate(readForm(event.currentTarget));
  };
  return (
    <section className="card">
      <h3>{t("title")}</h3>
      <p>{t("lead")}</p>
      <ol className="steps numbered">
        {STEPS.map((step) => (
          <li key={step}>
            <span>{t(step)}</span>
          </li>
        ))}
      </ol>
      {!isOwnFormat && <p className="hint">{t("otherFormat")}</p>}
      {isOwnFormat && globalThis.isSecureContext && (
        <Form className="stack" onSubmit={submit}>
          <FormField
            name="secret"
            type="password"
            label={t("secret")}
            hint={t("secretHint")}
            autoComplete="off"
            maxLength={256}
          />
          <FormField
            name="signature"
            label={t("given")}
            hint={t("givenHint")}
            autoComplete="off"
            maxLength={4096}
            isOptional
          />
          <FormField
            name="timestamp"
            label={t("timestamp")}
            hint={t("timestampHint")}
            inputMode="numeric"
            autoComplete="off"
            maxLength={12}
            isOptional
          />
          <div className="buttons">
            <ActionButton type="submit" isPending={check.isPending}>
              {t("submit")}
            </ActionButton>
          </div>
        </Form>
      )}
      {isOwnFormat && !globalThis.isSecureContext && <p className="hint">{t("insecure")}</p>}
      {check.data && <Result check={check.data} />}
    </section>
  );
}

function Result({ check: { body, standard, isGenuine } }: { check: Check }) {
  const t = useTranslations("webhooks.check");
  const tone = isGenuine === undefined ? "info" : isGenuine ? "success" : "danger";
  const result = isGenuine === undefined ? "computed" : isGenuine ? "genuine" : "different";
  return (
    <>
      <Notice tone={tone} isUrgent title={t(result)}>
        <p>{t(`${result}Help`)}</p>
      </Notice>
      <h4>X-Waygate-Signature</h4>
      <CodeSample text={body} label="X-Waygate-Signature" />
      {standard && (
        <>
          <h4>webhook-signature</h4>
          <CodeSample text={standard} label="webhook-signature" />
        </>
      )}
    </>
  );
}
