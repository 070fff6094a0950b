import { useTranslations } from "use-intl";
import { CheckField } from "../../../components/fields/check-field.tsx";
import { ZonePick } from "../../../components/fields/pick-list.tsx";
import { ValueField } from "../../../components/fields/value-field.tsx";
import { useAccountZone } from "../use-account-zone.ts";
import type { CampaignDraft, DraftErrors } from "./campaign-draft.ts";

interface TimingStepProps {
  draft: CampaignDraft;
  errors: DraftErrors;
  onChange(part: Partial<CampaignDraft>): void;
}

type TextField = "shortestS" | "longestS" | "dailyLimit" | "stopPercent" | "consentPurpose";

export function TimingStep({ draft, errors, onChange }: TimingStepProps) {
  const t = useTranslations("campaigns");
  const { dayZone } = useAccountZone();
  const field = (name: TextField, type: "number" | "text" = "number") => ({
    label: t(name),
    type,
    value: draft[name],
    onChange: (value: string) => onChange({ [name]: value }),
    error: errors[name] && t(`errors.${errors[name]}`),
  });
  return (
    <div className="columns gapped">
      <section className="card" aria-label={t("whenTitle")}>
        <h2>{t("whenTitle")}</h2>
        <Schedule draft={draft} errors={errors} onChange={onChange} />
        <QuietHours draft={draft} errors={errors} onChange={onChange} />
        <ZonePick
          label={t("zone")}
          hint={t("zoneHint", { zone: draft.zone })}
          value={draft.zone}
          onChange={(zone) => onChange({ zone })}
        />
      </section>
      <section className="card" aria-label={t("paceTitle")}>
        <h2>{t("paceTitle")}</h2>
        <p className="hint">{t("paceHint")}</p>
        <div className="field-pair">
          <ValueField {...field("shortestS")} min={0} max={86_400} step="any" />
          <ValueField {...field("longestS")} min={0} max={86_400} step="any" />
        </div>
        <ValueField
          {...field("dailyLimit")}
          hint={t("dailyLimitHint", {
            zone: draft.hasQuietHours ? draft.zone : dayZone,
            whose: draft.hasQuietHours ? "campaign" : "account",
          })}
          min={1}
        />
        <ValueField {...field("stopPercent")} hint={t("stopPercentHint")} min={1} max={100} />
        <h2>{t("consentTitle")}</h2>
        <CheckField
          label={t("needsConsent")}
          hint={t("needsConsentHint")}
          isSelected={draft.needsConsent}
          onChange={(needsConsent) => onChange({ needsConsent })}
        />
        {draft.needsConsent && (
          <ValueField {...field("consentPurpose", "text")} hint={t("consentPurposeHint")} maxLength={64} />
        )}
        <p className="hint">{t("optOutHint")}</p>
      </section>
    </div>
  );
}

function Schedule({ draft, errors, onChange }: TimingStepProps) {
  const t = useTranslations("campaigns");
  return (
    <>
      <CheckField
        label={t("isScheduled")}
        hint={t("isScheduledHint")}
        isSelected={draft.isScheduled}
        onChange={(isScheduled) => onChange({ isScheduled })}
      />
      {draft.isScheduled && (
        <ValueField
          type="datetime-local"
          label={t("scheduledAt")}
          value={draft.scheduledAt}
          onChange={(scheduledAt) => onChange({ scheduledAt })}
          error={errors.scheduledAt && t(`errors.${errors.scheduledAt}`)}
        />
      )}
    </>
  );
}

function QuietHours({ draft, errors, onChange }: TimingStepProps) {
  const t = useTranslations("campaigns");
  return (
    <>
      <CheckField
        label={t("hasQuietHours")}
        hint={t("hasQuietHoursHint")}
        isSelected={draft.hasQuietHours}
        onChange={(hasQuietHours) => onChange({ hasQuietHours })}
      />
      {draft.hasQuietHours && (
        <div className="field-pair">
          <ValueField
            type="time"
            label={t("quietStart")}
            value={draft.quietStart}
            onChange={(quietStart) => onChange({ quietStart })}
          />
          <ValueField
            type="time"
            label={t("quietEnd")}
            value={draft.quietEnd}
            onChange={(quietEnd) => onChange({ quietEnd })}
            error={errors.quietEnd && t(`errors.${errors.quietEnd}`)}
          />
        </div>
      )}
    </>
  );
}
