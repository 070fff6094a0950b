import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { UnsavedGuard } from "../../../components/dialogs/unsaved-guard.tsx";
import { ErrorNotice, useRequestError } from "../../../components/error-notice.tsx";
import { CheckField } from "../../../components/fields/check-field.tsx";
import { FormField } from "../../../components/fields/form-field.tsx";
import { CountryPick, PickList } from "../../../components/fields/pick-list.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { refusalsOf } from "../../../components/use-gateway-texts.ts";
import { gateway, type Instance } from "../../../gateway/gateway.ts";
import { toRequestError } from "../../../gateway/to-request-error.ts";
import { FORM_FIELDS, findDraftErrors, type SettingsDraft, toChange, toDraft } from "./settings-draft.ts";

interface PartProps {
  draft: SettingsDraft;
  row: Instance;
  set(change: Partial<SettingsDraft>): void;
}

export function SettingsForm({ row }: { row: Instance }) {
  const t = useTranslations("instanceSettings");
  const { draft, set, isChanged, save, submit, reset, errors } = useSettings(row);
  const part = { draft, row, set };
  return (
    <Form className="stack" data-wide="" onSubmit={submit} validationErrors={errors}>
      <UnsavedGuard isDirty={isChanged} />
      <GeneralPart {...part} />
      <ReceivingPart {...part} />
      <SendingPart {...part} />
      <KeepingPart {...part} />
      <div className="save-bar" data-changed={isChanged ? "" : undefined}>
        {Object.keys(errors).length === 0 && <ErrorNotice error={save.error} />}
        <ActionButton kind="primary" type="submit" isDisabled={!isChanged} isPending={save.isPending}>
          {t("save")}
        </ActionButton>
        {isChanged && <ActionButton onPress={reset}>{t("reset")}</ActionButton>}
        <p className="hint" role="status">
          {isChanged ? t("unsaved") : t("allSaved")}
        </p>
      </div>
    </Form>
  );
}

function useSettings(row: Instance) {
  const t = useTranslations("instanceSettings");
  const queries = useQueryClient();
  const [saved, setSaved] = useState(() => toDraft(row));
  const [draft, setDraft] = useState(saved);
  const [isChecked, setChecked] = useState(false);
  const save = useMutation({
    mutationFn: (change: SettingsDraft) => gateway.updateInstance({ id: row.id, ...toChange(change) }),
    onSuccess: ({ data }) => {
      queries.setQueryData(["instances", row.id, "row"], data);
      setSaved(toDraft(data));
      setDraft(toDraft(data));
      showToast(t("savedToast"));
      return queries.invalidateQueries({ queryKey: ["instances"] });
    },
  });
  const own = isChecked ? findDraftErrors(draft) : {};
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setChecked(true);
    const form = event.currentTarget;
    const [first] = Object.keys(findDraftErrors(draft));
    if (first !== undefined) return focusField(form, first);
    save.mutate(draft, {
      onError: (error) =>
        focusField(form, FORM_FIELDS[refusalsOf(toRequestError(error).details)[0]?.field ?? ""]),
    });
  };
  const reset = () => {
    setDraft(saved);
    setChecked(false);
    save.reset();
  };
  const set = (change: Partial<SettingsDraft>) => {
    setDraft((old) => ({ ...old, ...change }));
    if (save.isError) save.reset();
  };
  const refused = useRequestError(save.error);
  const theirs = Object.entries(refused.fields).map(([name, issue]) => [FORM_FIELDS[name] ?? name, issue]);
  const ours = Object.entries(own).map(([name, error]) => [name, t(`errors.${error}`)]);
  const errors: Record<string, string> = Object.fromEntries([...theirs, ...ours]);
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved);
  return { draft, set, isChanged, save, submit, reset, errors };
}

/** On a phone the field may be far above the button. */
function focusField(form: HTMLFormElement, name: string | undefined): void {
  form.querySelector<HTMLElement>(`[name="${name}"]`)?.focus();
}

function Part({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  return (
    <section className="card form-section" aria-label={title}>
      <div>
        <h2>{title}</h2>
        <p className="hint">{lead}</p>
      </div>
      {children}
    </section>
  );
}

function GeneralPart({ draft, row, set }: PartProps) {
  const t = useTranslations("instanceSettings");
  const common = useTranslations("common");
  return (
    <Part title={t("general")} lead={t("generalLead")}>
      <FormField
        name="name"
        label={t("name")}
        hint={t("nameHint")}
        maxLength={100}
        value={draft.name}
        onInput={(name) => set({ name })}
      />
      {row.network === "whatsapp" && (
        <FormField
          name="device_name"
          label={t("deviceName")}
          hint={t("deviceNameHint")}
          maxLength={40}
          isOptional
          value={draft.device_name}
          onInput={(device_name) => set({ device_name })}
        />
      )}
      <CountryPick
        value={draft.default_country}
        none={common("countryOfAccount")}
        onChange={(default_country) => set({ default_country })}
      />
      <FormField
        name="metadata"
        label={t("metadata")}
        hint={t("metadataHint")}
        maxLength={16_384}
        isOptional
        isLong
        value={draft.metadata}
        onInput={(metadata) => set({ metadata })}
      />
      <CheckField
        label={t("webhooks")}
        hint={t("webhooksHint")}
        isSelected={draft.webhook_enabled}
        onChange={(webhook_enabled) => set({ webhook_enabled })}
      />
    </Part>
  );
}

function ReceivingPart({ draft, set }: PartProps) {
  const t = useTranslations("instanceSettings");
  return (
    <Part title={t("receiving")} lead={t("receivingLead")}>
      <div>
        <CheckField
          label={t("readMessages")}
          hint={t("readMessagesHint")}
          isSelected={draft.read_messages}
          onChange={(read_messages) => set({ read_messages })}
        />
        <CheckField
          label={t("markOnline")}
          hint={t("markOnlineHint")}
          isSelected={draft.mark_online}
          onChange={(mark_online) => set({ mark_online })}
        />
        <CheckField
          label={t("ignoreGroups")}
          hint={t("ignoreGroupsHint")}
          isSelected={draft.ignore_groups}
          onChange={(ignore_groups) => set({ ignore_groups })}
        />
        <CheckField
          label={t("rejectCalls")}
          hint={t("rejectCallsHint")}
          isSelected={draft.reject_calls}
          onChange={(reject_calls) => set({ reject_calls })}
        />
      </div>
      {draft.reject_calls && (
        <FormField
          name="reject_message"
          label={t("rejectMessage")}
          hint={t("rejectMessageHint")}
          maxLength={4096}
          isOptional
          isLong
          value={draft.reject_message}
          onInput={(reject_message) => set({ reject_message })}
        />
      )}
    </Part>
  );
}

function SendingPart({ draft, row, set }: PartProps) {
  const t = useTranslations("instanceSettings");
  const { message_rate_limit_per_minute: most, messages_per_minute: now } = row.limits;
  return (
    <Part title={t("sending")} lead={t("sendingLead")}>
      <div className="pair">
        <FormField
          name="delay_min"
          label={t("delayMin")}
          hint={t("delayHint")}
          inputMode="decimal"
          maxLength={8}
          value={draft.delay_min}
          onInput={(delay_min) => set({ delay_min })}
        />
        <FormField
          name="delay_max"
          label={t("delayMax")}
          hint={t("delayMaxHint")}
          inputMode="decimal"
          maxLength={8}
          value={draft.delay_max}
          onInput={(delay_max) => set({ delay_max })}
        />
      </div>
      <FormField
        name="messages_per_minute"
        label={t("perMinute")}
        hint={`${t("perMinuteHint")} ${most === null ? t("perMinuteNoPlan") : t("perMinutePlan", { most })} ${now === null ? "" : t("perMinuteNow", { now })}`}
        inputMode="numeric"
        maxLength={6}
        isOptional
        value={draft.messages_per_minute}
        onInput={(messages_per_minute) => set({ messages_per_minute })}
      />
      <PickList
        label={t("onUnknown")}
        value={draft.on_unknown}
        options={{ resend: t("onUnknownResend"), fail: t("onUnknownFail") }}
        onChange={(on_unknown) => set({ on_unknown })}
      />
      <p className="hint">{t(draft.on_unknown === "resend" ? "onUnknownResendHint" : "onUnknownFailHint")}</p>
    </Part>
  );
}

function KeepingPart({ draft, set }: PartProps) {
  const t = useTranslations("instanceSettings");
  return (
    <Part title={t("keeping")} lead={t("keepingLead")}>
      <FormField
        name="media_retention_days"
        label={t("mediaDays")}
        hint={t("mediaDaysHint")}
        inputMode="numeric"
        maxLength={4}
        isOptional
        value={draft.media_retention_days}
        onInput={(media_retention_days) => set({ media_retention_days })}
      />
    </Part>
  );
}
