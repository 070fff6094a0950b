import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { UnsavedGuard, useEntered } from "../../components/dialogs/unsaved-guard.tsx";
import { ErrorNotice, useFocusOnError, useRequestError } from "../../components/error-notice.tsx";
import { CheckField, CheckList } from "../../components/fields/check-field.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { readForm } from "../../components/fields/read-search.ts";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { ALL_EVENTS } from "../webhooks/event-groups.ts";
import { PROVIDER_NAMES, type Provider } from "./integrations-queries.ts";
import {
  type Config,
  type FieldSpec,
  isChosen,
  PROVIDER_FIELDS,
  readConfig,
  toConfig,
  toText,
} from "./provider-fields.ts";

interface IntegrationFormProps {
  provider: Provider;
  saved: Config | undefined;
  save: ReturnType<typeof useSaveIntegration>;
}

const GROUPS = ["connection", "behaviour", "limits"] as const;

export function IntegrationForm({ provider, saved, save }: IntegrationFormProps) {
  const t = useTranslations("integrations");
  const form = useFocusOnError(save.error);
  const [config, setConfig] = useState(() => toConfig(provider, saved));
  const { isEntered, enter, clear, listener } = useEntered();
  const choose = (part: Config) => {
    enter();
    setConfig((before) => ({ ...before, ...part }));
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const input = readConfig(provider, config, readForm(event.currentTarget));
    save.mutate(input, { onSuccess: clear });
  };
  const refused = useRequestError(save.error);
  // Errors of a list entry are shown at the list's field.
  const fields = Object.fromEntries(
    Object.entries(refused.fields).map(([name, issue]) => [
      name.replace(/^config\./, "").split(".")[0] ?? name,
      issue,
    ]),
  );
  const typed = PROVIDER_FIELDS[provider].filter((field) => !isChosen(field)).map(({ name }) => name);
  const isShown = Object.keys(fields).some((name) => typed.includes(name));
  return (
    <Form ref={form} className="stack" onSubmit={submit} {...listener} validationErrors={fields}>
      <UnsavedGuard isDirty={isEntered} />
      {GROUPS.map((group) => (
        <section key={group} className="card">
          <h3>{t(`groups.${group}`)}</h3>
          {PROVIDER_FIELDS[provider]
            .filter((field) => field.group === group && (field.isShown?.(config) ?? true))
            .map((field) => (
              <IntegrationField
                key={field.name}
                provider={provider}
                field={field}
                value={config[field.name]}
                onChange={(value) => choose({ [field.name]: value })}
              />
            ))}
        </section>
      ))}
      {!isShown && <ErrorNotice error={save.error} />}
      <div className="buttons">
        <ActionButton kind={saved ? "secondary" : "primary"} type="submit" isPending={save.isPending}>
          {save.isPending ? t("saving") : t("save", { name: PROVIDER_NAMES[provider] })}
        </ActionButton>
      </div>
    </Form>
  );
}

/** Saves a configuration and remounts the form, which clears typed secrets. */
export function useSaveIntegration({
  id,
  provider,
  isNew,
}: {
  id: number;
  provider: Provider;
  isNew: boolean;
}) {
  const t = useTranslations("integrations");
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (config: Record<string, unknown>) => {
      const enabled = isNew ? { enabled: true } : {};
      return (await gateway.saveIntegration({ id, provider, ...enabled, config })).data;
    },
    onSuccess: () => {
      showToast(t("saved", { name: PROVIDER_NAMES[provider] }));
      // The next step, a test, appears at the top.
      if (isNew) scrollTo({ top: 0 });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
}

interface IntegrationFieldProps {
  provider: Provider;
  field: FieldSpec;
  value: unknown;
  onChange(value: unknown): void;
}

const LONGEST = { text: 2048, url: 2048, secret: 4096, number: 10, long: 4096, escaped: 40 } as const;

function IntegrationField({ provider, field, value, onChange }: IntegrationFieldProps) {
  // A test checks that every field has a text.
  const t = useTranslations(`integrations.${provider}`) as unknown as (key: string) => string;
  const { name, kind, options = [] } = field;
  const label = t(`fields.${name}.label`);
  const hint = t(`fields.${name}.hint`);
  if (kind === "switch")
    return <CheckField label={label} hint={hint} isSelected={value === true} onChange={onChange} />;
  if (kind === "events")
    return (
      <CheckList
        label={label}
        hint={hint}
        options={ALL_EVENTS.map((event) => ({ value: event as string, text: event }))}
        value={value as string[]}
        onChange={onChange}
      />
    );
  if (kind === "choice")
    return (
      <PickList<string>
        label={label}
        hint={hint}
        value={String(value)}
        options={Object.fromEntries(options.map((option) => [option, t(`choices.${name}.${option}`)]))}
        onChange={onChange}
      />
    );
  return <TypedField field={field} label={label} hint={hint} value={value} />;
}

interface TypedFieldProps {
  field: FieldSpec;
  label: string;
  hint: string;
  value: unknown;
}

function TypedField({ field, label, hint, value }: TypedFieldProps) {
  const { name, kind, isRequired = false, maxLength } = field;
  const isLong = kind === "long" || kind === "lines" || kind === "variables";
  const type = kind === "secret" ? "password" : kind === "url" ? "url" : "text";
  return (
    <FormField
      name={name}
      label={label}
      hint={hint}
      type={type}
      autoComplete={kind === "secret" ? "new-password" : "off"}
      defaultValue={toText(field, value)}
      maxLength={maxLength ?? LONGEST[kind as keyof typeof LONGEST] ?? 100_000}
      isOptional={!isRequired}
      isLong={isLong}
      {...(kind === "number" && { inputMode: "numeric" as const })}
    />
  );
}
