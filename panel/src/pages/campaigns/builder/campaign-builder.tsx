import { useState } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { UnsavedGuard } from "../../../components/dialogs/unsaved-guard.tsx";
import { ErrorNotice } from "../../../components/error-notice.tsx";
import {
  type CampaignDraft,
  type DraftErrors,
  findErrors,
  MESSAGE_FIELDS,
  type PickedRecipient,
} from "./campaign-draft.ts";
import { MessageStep } from "./message-step.tsx";
import { RecipientsStep } from "./recipients-step.tsx";
import { TimingStep } from "./timing-step.tsx";

const STEPS = ["message", "recipients", "timing"] as const;
type BuilderStep = (typeof STEPS)[number];

interface CampaignBuilderProps {
  first: CampaignDraft;
  submitLabel: string;
  /** Recipients already stored in the campaign. */
  numStored: number;
  mutation: { isPending: boolean; isSuccess: boolean; error: unknown };
  onSubmit(draft: CampaignDraft, recipients: readonly PickedRecipient[]): void;
}

/** A campaign in three steps. Only the last button stores it. */
export function CampaignBuilder({ first, submitLabel, numStored, mutation, onSubmit }: CampaignBuilderProps) {
  const t = useTranslations("campaigns");
  const { step, draft, recipients, errors, ...builder } = useBuilder(first);
  const submit = () => builder.finish() && onSubmit(draft, recipients);
  return (
    <>
      <StepLine steps={STEPS} current={step} onGo={builder.go} />
      {step === "message" && (
        <MessageStep draft={draft} errors={errors} onChange={builder.change} recipients={recipients} />
      )}
      {/* Stays mounted to keep the file and its mapping. */}
      <div hidden={step !== "recipients"}>
        <RecipientsStep
          draft={draft}
          numStored={numStored}
          onPick={builder.pick}
          onAddCountry={() => builder.change({ addsCountry: true })}
        />
      </div>
      {step === "timing" && <TimingStep draft={draft} errors={errors} onChange={builder.change} />}
      <ErrorNotice error={mutation.error} />
      <div className="buttons builder-buttons">
        {step !== "message" && <ActionButton onPress={builder.back}>{t("previousStep")}</ActionButton>}
        {step === "timing" ? (
          <ActionButton kind="primary" isPending={mutation.isPending} onPress={submit}>
            {mutation.isPending ? t("saving") : submitLabel}
          </ActionButton>
        ) : (
          <ActionButton kind="primary" onPress={builder.next}>
            {t(step === "message" ? "toRecipients" : "toTiming")}
          </ActionButton>
        )}
        {step === "timing" && <p className="hint">{t("saveHelp")}</p>}
      </div>
      <UnsavedGuard isDirty={builder.isDirty && !mutation.isSuccess} />
    </>
  );
}

function useBuilder(first: CampaignDraft) {
  const [step, setStep] = useState<BuilderStep>("message");
  const [draft, setDraft] = useState(first);
  const [recipients, setRecipients] = useState<readonly PickedRecipient[]>([]);
  const [isChecked, setChecked] = useState(false);
  const found = findErrors(draft);
  const hasMessageError = MESSAGE_FIELDS.some((name) => found[name] !== undefined);
  const go = (next: BuilderStep) => {
    const mayGo = next === "message" || !hasMessageError;
    setChecked(!mayGo);
    if (mayGo) setStep(next);
  };
  const at = STEPS.indexOf(step);
  const shown: DraftErrors = isChecked ? found : {};
  return {
    step,
    draft,
    recipients,
    errors: shown,
    isDirty: draft !== first || recipients.length > 0,
    go,
    next: () => go(STEPS[at + 1] ?? step),
    back: () => go(STEPS[at - 1] ?? step),
    change: (part: Partial<CampaignDraft>) => setDraft((before) => ({ ...before, ...part })),
    pick(picked: readonly PickedRecipient[], isCorrection = false) {
      setRecipients(picked);
      if (!isCorrection) setDraft((before) => ({ ...before, addsCountry: false }));
    },
    finish() {
      setChecked(true);
      return Object.keys(found).length === 0;
    },
  };
}

interface StepLineProps {
  steps: readonly BuilderStep[];
  current: BuilderStep;
  onGo(step: BuilderStep): void;
}

function StepLine({ steps, current, onGo }: StepLineProps) {
  const t = useTranslations("campaigns");
  const here = steps.indexOf(current);
  return (
    <nav aria-label={t("stepsLabel")}>
      <ol className="stepper step-line" data-flat="">
        {steps.map((step, at) => (
          <li key={step} data-state={at === here ? "here" : at < here ? "done" : "ahead"}>
            <button
              type="button"
              className="step-name"
              aria-current={at === here ? "step" : undefined}
              onClick={() => onGo(step)}
            >
              {t(`steps.${step}`)}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}
