import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { UnsavedGuard, useEntered } from "../../components/dialogs/unsaved-guard.tsx";
import { ErrorNotice, useFocusOnError, useRequestError } from "../../components/error-notice.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { readForm } from "../../components/fields/read-search.ts";
import { toWebhookInput, type WebhookDraft } from "./webhook-draft.ts";
import { DeliveryFields, EventFields } from "./webhook-fields.tsx";

interface WebhookFormProps {
  id: number;
  first: WebhookDraft;
  submitLabel: string;
  mutation: { isPending: boolean; error: unknown };
  onSubmit(input: ReturnType<typeof toWebhookInput>): void;
}

const SHOWN_FIELDS = ["name", "url", "max_attempts", "headers", "format_token"];

export function WebhookForm({ id, first, submitLabel, mutation, onSubmit }: WebhookFormProps) {
  const t = useTranslations();
  const form = useFocusOnError(mutation.error);
  const [draft, setDraft] = useState(first);
  const { isEntered, enter, listener } = useEntered();
  const change = (part: Partial<WebhookDraft>) => {
    enter();
    setDraft((before) => ({ ...before, ...part }));
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (draft.events.length > 0) onSubmit(toWebhookInput(draft, readForm(event.currentTarget)));
  };
  const refused = useRequestError(mutation.error);
  // Errors of one header are shown at the field of all headers.
  const fields = Object.fromEntries(
    Object.entries(refused.fields).map(([name, issue]) => [name.split(".")[0] ?? name, issue]),
  );
  const isShown = Object.keys(fields).some((name) => SHOWN_FIELDS.includes(name));
  return (
    <Form ref={form} className="stack" onSubmit={submit} {...listener} validationErrors={fields}>
      <UnsavedGuard isDirty={isEntered} />
      <section className="card">
        <h3>{t("webhooks.form.where")}</h3>
        <FormField
          name="url"
          type="url"
          label={t("webhooks.form.url")}
          hint={t("webhooks.form.urlHint")}
          placeholder="https://example.com/hook"
          defaultValue={first.url}
          autoComplete="off"
          maxLength={2048}
        />
        <FormField
          name="name"
          label={t("webhooks.form.name")}
          hint={t("webhooks.form.nameHint")}
          defaultValue={first.name}
          autoComplete="off"
          maxLength={100}
        />
      </section>
      <EventFields draft={draft} change={change} />
      <DeliveryFields draft={draft} change={change} />
      {!isShown && <ErrorNotice error={mutation.error} />}
      <div className="buttons">
        <ActionButton kind="primary" type="submit" isPending={mutation.isPending}>
          {submitLabel}
        </ActionButton>
        <LinkButton to="/instances/$id/webhooks" params={{ id }}>
          {t("common.cancel")}
        </LinkButton>
      </div>
    </Form>
  );
}
