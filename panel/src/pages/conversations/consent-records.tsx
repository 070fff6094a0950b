import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { CheckField } from "../../components/check-field.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { FormField } from "../../components/form-field.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import { consentQuery } from "./conversation-queries.ts";

/** What the person has agreed to. Records are never changed: a withdrawal is another one. */
export function ConsentRecords({ phone }: { phone: string }) {
  const t = useTranslations("conversations.consent");
  const { data = [], error, refetch } = useQuery(consentQuery(phone));
  return (
    <section className="side-part" aria-label={t("title")}>
      <h3>{t("title")}</h3>
      {error && <FaultNotice error={error} onRetry={() => void refetch()} />}
      {data.length === 0 && !error && <p className="hint">{t("none")}</p>}
      <ul className="notes">
        {data.map(({ consentId, purpose, granted, current, channel, created_at }) => (
          <li key={consentId} data-old={current ? undefined : ""}>
            <p>
              <strong>{purpose}</strong>: {t(granted ? "granted" : "withdrawn")}
              {!current && ` (${t("outdated")})`}
            </p>
            <p className="hint">
              {channel && `${channel} · `}
              <RelativeTime at={created_at} />
            </p>
          </li>
        ))}
      </ul>
      <RecordConsent phone={phone} />
    </section>
  );
}

function RecordConsent({ phone }: { phone: string }) {
  const t = useTranslations("conversations.consent");
  const client = useQueryClient();
  const [granted, setGranted] = useState(true);
  const record = useMutation({
    mutationFn: (input: Parameters<typeof gateway.recordConsent>[0]) => gateway.recordConsent(input),
    onSuccess: () => client.invalidateQueries({ queryKey: consentQuery(phone).queryKey }),
  });
  const submit = ({ purpose = "", channel = "" }: Partial<Record<string, string>>) =>
    record.mutateAsync({
      phone,
      purpose,
      consent_type: granted ? "opt_in" : "opt_out",
      granted,
      ...(channel && { channel }),
    });
  return (
    <div className="buttons">
      <FormDialog
        label={t("record")}
        title={t("recordTitle")}
        submitLabel={t("save")}
        onSubmit={submit}
        mutation={record}
      >
        <FormField name="purpose" label={t("purpose")} hint={t("purposeHint")} maxLength={64} />
        <FormField name="channel" label={t("channel")} hint={t("channelHint")} maxLength={64} isOptional />
        <CheckField
          label={t("isGranted")}
          hint={t("isGrantedHint")}
          isSelected={granted}
          onChange={setGranted}
        />
      </FormDialog>
    </div>
  );
}
