import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { readForm } from "../../api/read-form.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { showToast } from "../../components/toasts.tsx";
import { UnsavedGuard } from "../../components/unsaved-guard.tsx";
import { useEntered } from "../../components/use-entered.ts";
import { useFault } from "../../components/use-fault.ts";
import { useFocusFault } from "../../components/use-focus-fault.ts";
import { IntegrationField } from "./integration-field.tsx";
import { PROVIDER_NAMES, type Provider } from "./integrations-queries.ts";
import { type Config, isChosen, PROVIDER_FIELDS, readConfig, toConfig } from "./provider-fields.ts";

interface IntegrationFormProps {
  provider: Provider;
  saved: Config | undefined;
  save: ReturnType<typeof useSaveIntegration>;
}

const GROUPS = ["connection", "behaviour", "limits"] as const;

/** Every field of an integration, in groups. */
export function IntegrationForm({ provider, saved, save }: IntegrationFormProps) {
  const t = useTranslations("integrations");
  const form = useFocusFault(save.error);
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
  const fault = useFault(save.error);
  // A fault of one entry stands at the field of its list.
  const fields = Object.fromEntries(
    Object.entries(fault.fields).map(([name, issue]) => [
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
        <section key={group} className="plate">
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
      {!isShown && <FaultNotice error={save.error} />}
      <div className="buttons">
        <ActionButton kind={saved ? "plain" : "main"} type="submit" isPending={save.isPending}>
          {save.isPending ? t("saving") : t("save", { name: PROVIDER_NAMES[provider] })}
        </ActionButton>
      </div>
    </Form>
  );
}

/** Saves a configuration; the form of a saved one begins anew, without the secrets that were typed. */
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
      // The next step, a test, has appeared at the top.
      if (isNew) scrollTo({ top: 0 });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
}
