import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { ErrorNotice, Notice } from "../../components/error-notice.tsx";
import { ValueField } from "../../components/fields/value-field.tsx";
import { formatPhone } from "../../components/formats.tsx";
import { LoadingState } from "../../components/page-header.tsx";
import { MessageBubble } from "./builder/message-step.tsx";
import { type CampaignWithTotals, previewQuery } from "./campaigns-queries.ts";

const MINUTE_MS = 60_000;

/** Previews of the next recipients' messages, and warnings before the start. */
export function CampaignReview({ campaign }: { campaign: CampaignWithTotals }) {
  const t = useTranslations("campaigns");
  const [phone, setPhone] = useState("");
  const { data, error, refetch } = useQuery(previewQuery(campaign.id, phone));
  return (
    <section className="card" aria-label={t("reviewTitle")}>
      <h2>{t("reviewTitle")}</h2>
      <Warnings campaign={campaign} warnings={data?.warnings ?? []} />
      <PreviewSearch onSearch={setPhone} />
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && <LoadingState />}
      {data && data.previews.length === 0 && <p className="hint">{t("previewNobody")}</p>}
      {data && data.previews.length > 0 && (
        <PreviewPager key={phone} previews={data.previews} campaign={campaign} />
      )}
    </section>
  );
}

interface Preview {
  phone: string | null;
  text: string;
  too_long: boolean;
}

function PreviewPager({
  previews,
  campaign,
}: {
  previews: readonly Preview[];
  campaign: CampaignWithTotals;
}) {
  const t = useTranslations("campaigns");
  const [wanted, setWanted] = useState(0);
  const at = Math.min(wanted, previews.length - 1);
  const shown = previews[at];
  return (
    <div className="stack">
      <p className="hint" aria-live="polite">
        {t("previewFor", { phone: formatPhone(shown?.phone ?? ""), at: at + 1, total: previews.length })}
      </p>
      {shown?.too_long && (
        <Notice tone="danger">
          <p>{t("recipientReason.message_too_long")}</p>
        </Notice>
      )}
      <MessageBubble
        text={shown?.text ?? ""}
        file={campaign.media === null ? undefined : (campaign.media.file_name ?? campaign.media.type)}
      />
      <div className="buttons">
        <ActionButton isDisabled={at === 0} onPress={() => setWanted(at - 1)}>
          {t("previousRecipient")}
        </ActionButton>
        <ActionButton isDisabled={at + 1 >= previews.length} onPress={() => setWanted(at + 1)}>
          {t("nextRecipient")}
        </ActionButton>
      </div>
    </div>
  );
}

function PreviewSearch({ onSearch }: { onSearch(phone: string): void }) {
  const t = useTranslations("campaigns");
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSearch(text.replace(/\D/g, ""));
  };
  return (
    <Form className="inline-form" onSubmit={submit}>
      <ValueField type="tel" label={t("previewNumber")} value={text} onChange={setText} maxLength={40} />
      <ActionButton type="submit">{t("previewShow")}</ActionButton>
    </Form>
  );
}

interface WarningsProps {
  campaign: CampaignWithTotals;
  warnings: readonly { variable: string; missing: number; message: string }[];
}

function Warnings({ campaign, warnings }: WarningsProps) {
  const t = useTranslations("campaigns");
  const { consent_purpose, min_delay_ms, max_delay_ms, totals } = campaign;
  const minutes = Math.ceil((totals.pending * (min_delay_ms + max_delay_ms)) / 2 / MINUTE_MS);
  return (
    <>
      <p>{t("reviewPace", { count: totals.pending, minutes })}</p>
      <Notice tone={consent_purpose === null ? "info" : "success"}>
        <p>
          {consent_purpose === null ? t("consentMissing") : t("consentAsked", { purpose: consent_purpose })}
        </p>
      </Notice>
      {warnings.length > 0 && (
        <Notice tone="warning" title={t("warningsTitle")}>
          {warnings.map(({ variable, missing }) => (
            <p key={variable}>
              {missing === 0
                ? t("notVariable", { text: variable })
                : t("staysEmpty", { name: `{{${variable}}}`, count: missing })}
            </p>
          ))}
        </Notice>
      )}
    </>
  );
}
