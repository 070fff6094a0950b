import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { UnsavedGuard } from "../../components/dialogs/unsaved-guard.tsx";
import { ErrorNotice, useRequestError } from "../../components/error-notice.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { ValueField } from "../../components/fields/value-field.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { type CustomField, fieldsQuery, type LeadDetails } from "./crm-queries.ts";

type Texts = Readonly<Record<string, string>>;

export function LeadFields({ lead }: { lead: LeadDetails }) {
  const t = useTranslations();
  const { data: declared = [] } = useQuery(fieldsQuery);
  const [changed, setChanged] = useState<Texts>({});
  const save = useSaveFields(lead, () => setChanged({}));
  const undeclared = Object.keys(lead.custom_fields).filter(
    (name) => !declared.some((one) => one.name === name),
  );
  const all = [...declared, ...undeclared.map((name) => ({ name, type: "text" as const, options: [] }))];
  const { fields } = useRequestError(save.error);
  const hasFieldError = Object.keys(fields).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const entries = Object.entries(changed).map(([name, text]) => {
      return [name, toValue(text, all.find((one) => one.name === name)?.type ?? "text")];
    });
    save.mutate(Object.fromEntries(entries));
  };
  return (
    <section className="card" aria-label={t("crm.fields")}>
      <UnsavedGuard isDirty={Object.keys(changed).length > 0} />
      <h2>{t("crm.fields")}</h2>
      {!hasFieldError && <ErrorNotice error={save.error} />}
      {all.length === 0 && (
        <>
          <p className="hint">{t("crm.noFieldsHere")}</p>
          <div className="buttons">
            <LinkButton to="/crm/fields">{t("crm.fieldsTab")}</LinkButton>
          </div>
        </>
      )}
      {all.length > 0 && (
        <Form className="stack" onSubmit={submit}>
          {all.map((field) => (
            <FieldInput
              key={field.name}
              field={field}
              text={changed[field.name] ?? toText(lead.custom_fields[field.name])}
              error={fields[`custom_fields.${field.name}`]}
              onChange={(text) => setChanged({ ...changed, [field.name]: text })}
            />
          ))}
          <div className="buttons">
            <ActionButton
              type="submit"
              isDisabled={Object.keys(changed).length === 0}
              isPending={save.isPending}
            >
              {t("common.save")}
            </ActionButton>
          </div>
        </Form>
      )}
    </section>
  );
}

function useSaveFields({ id }: LeadDetails, onSaved: () => void) {
  const t = useTranslations("common");
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (fields: Record<string, string | number | boolean | null>) =>
      gateway.setLeadFields({ id, fields }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["crm", "lead", id] });
      onSaved();
      showToast(t("saved"));
    },
  });
}

interface FieldInputProps {
  field: Pick<CustomField, "name" | "type" | "options">;
  text: string;
  error: string | undefined;
  onChange(text: string): void;
}

function FieldInput({ field: { name, type, options }, text, error, onChange }: FieldInputProps) {
  const t = useTranslations();
  if (type === "boolean" || type === "select") {
    const shown =
      type === "boolean"
        ? { true: t("crm.yes"), false: t("crm.no") }
        : Object.fromEntries(options.map((one) => [one, one]));
    return (
      <div>
        <PickList
          label={name}
          value={text}
          options={{ "": t("common.none"), ...shown }}
          onChange={onChange}
        />
        {error !== undefined && <p className="field-error">{error}</p>}
      </div>
    );
  }
  return (
    <ValueField
      label={name}
      type={type}
      value={type === "date" ? text.slice(0, 10) : text}
      onChange={onChange}
      maxLength={2000}
      error={error}
      {...(type === "number" && { step: "any" as const })}
    />
  );
}

function toText(value: string | number | boolean | undefined): string {
  return value === undefined ? "" : String(value);
}

/** An empty field is removed. */
function toValue(text: string, type: CustomField["type"]): string | number | boolean | null {
  if (text === "") return null;
  if (type === "boolean") return text === "true";
  return type === "number" && text.trim() !== "" ? Number(text) : text;
}
