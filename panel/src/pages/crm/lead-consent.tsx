import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { ConfirmDialog } from "../../components/dialogs/confirm-dialog.tsx";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { consentQuery, type LeadDetails } from "./crm-queries.ts";

/** The contact's opt-out and consents. */
export function LeadConsent({ lead }: { lead: LeadDetails }) {
  const t = useTranslations("crm");
  const { data, error } = useQuery(consentQuery(lead.id, lead.phone));
  return (
    <section className="card" aria-label={t("consent")}>
      <h2>{t("consent")}</h2>
      <OptOut lead={lead} />
      <ErrorNotice error={error} />
      {data?.length === 0 && <p className="hint">{t("noConsent")}</p>}
      <ul className="events">
        {data?.map(({ consentId, purpose, granted, current, channel, created_at }) => (
          <li key={consentId} className="message-line" data-past={current ? undefined : ""}>
            <p>
              <strong>{purpose}</strong> {t(granted ? "consentGranted" : "consentWithdrawn")}
              {channel !== null && ` · ${channel}`}
            </p>
            <p className="hint">
              <RelativeTime at={created_at} /> {!current && t("consentPast")}
            </p>
          </li>
        ))}
      </ul>
      <div className="buttons">
        <ConsentDialog lead={lead} granted />
        <ConsentDialog lead={lead} granted={false} />
      </div>
    </section>
  );
}

function OptOut({ lead }: { lead: LeadDetails }) {
  const t = useTranslations("crm");
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: (opted_out: boolean) => gateway.updateLead({ id: lead.id, opted_out }),
    onSuccess: (_, isOut) => showToast(t(isOut ? "optOutSaved" : "optInSaved")),
    onSettled: () => queries.invalidateQueries({ queryKey: ["crm"] }),
  });
  return (
    <div className="stack">
      <ErrorNotice error={save.error} />
      <p>
        {lead.opted_out_at === null
          ? t("mayWriteHelp")
          : t.rich("optedOutHelp", { when: () => <RelativeTime at={lead.opted_out_at ?? ""} /> })}
      </p>
      <div className="buttons">
        {lead.opted_out_at === null ? (
          <ActionButton isPending={save.isPending} onPress={() => save.mutate(true)}>
            {t("optOut")}
          </ActionButton>
        ) : (
          <ConfirmDialog
            label={t("optIn")}
            title={t("optInTitle")}
            consequence={t("optInHelp")}
            confirmLabel={t("optIn")}
            onConfirm={() => save.mutate(false)}
          />
        )}
      </div>
    </div>
  );
}

function ConsentDialog({ lead, granted }: { lead: LeadDetails; granted: boolean }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const label = t(granted ? "crm.recordConsent" : "crm.recordWithdrawal");
  const save = useMutation({
    mutationFn: ({ purpose = "", channel = "" }: Partial<Record<string, string>>) =>
      gateway.recordConsent({
        lead_id: lead.id,
        purpose,
        consent_type: granted ? "opt_in" : "withdrawal",
        granted,
        ...(channel.trim() !== "" && { channel: channel.trim() }),
      }),
    onSuccess: () => {
      showToast(t("common.saved"));
      return queries.invalidateQueries({ queryKey: ["crm", "consent", lead.id] });
    },
  });
  return (
    <FormDialog
      label={label}
      title={label}
      submitLabel={t("common.save")}
      mutation={save}
      onSubmit={(fields) => save.mutateAsync(fields)}
    >
      <p className="hint">{t("crm.consentForever")}</p>
      <FormField name="purpose" label={t("crm.purpose")} hint={t("crm.purposeHint")} maxLength={64} />
      <FormField
        name="channel"
        label={t("crm.channel")}
        hint={t("crm.channelHint")}
        maxLength={64}
        isOptional
      />
    </FormDialog>
  );
}
