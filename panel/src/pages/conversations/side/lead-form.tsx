import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { FormDialog } from "../../../components/dialogs/form-dialog.tsx";
import { CheckField } from "../../../components/fields/check-field.tsx";
import { FormField } from "../../../components/fields/form-field.tsx";
import { PickList } from "../../../components/fields/pick-list.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import { customFieldsQuery, type LeadDetails, leadQuery } from "../conversation-queries.ts";

type Value = string | number | boolean | null;
type Field = Awaited<ReturnType<typeof gateway.listCustomFields>>["data"][number];
type Input = Parameters<typeof gateway.updateLead>[0];

const FIELD = "custom_fields.";

/** Edits the lead, including the account's custom fields. */
export function LeadForm({ lead, phone }: { lead: LeadDetails; phone: string }) {
  const t = useTranslations("conversations.lead");
  const client = useQueryClient();
  const { data: declared = [] } = useQuery(customFieldsQuery);
  const [chosen, setChosen] = useState<Record<string, Value>>({});
  const save = useMutation({
    mutationFn: (input: Input) => gateway.updateLead(input),
    onSuccess: () => [setChosen({}), client.invalidateQueries({ queryKey: leadQuery(phone).queryKey })],
  });
  const reset = () => {
    save.reset();
    setChosen({});
  };
  const submit = (form: Partial<Record<string, string>>) =>
    save.mutateAsync({
      id: lead.id,
      name: form.name || null,
      email: form.email || null,
      status: form.status || lead.status,
      kanban_status: form.kanban_status || null,
      tags: (form.tags ?? "")
        .split(",")
        .map((tag) => tag.trim())
        .filter(Boolean),
      custom_fields: { ...readFields(declared, form), ...chosen },
    });
  return (
    <FormDialog
      label={t("edit")}
      title={t("editTitle")}
      submitLabel={t("save")}
      onSubmit={submit}
      mutation={{ ...save, reset }}
      isGuarded
      isChosen={Object.keys(chosen).length > 0}
    >
      <OwnFields lead={lead} />
      {declared.map((field) => (
        <CustomField
          key={field.id}
          field={field}
          value={chosen[field.name] ?? lead.custom_fields[field.name] ?? null}
          onChange={(value) => setChosen({ ...chosen, [field.name]: value })}
        />
      ))}
    </FormDialog>
  );
}

function OwnFields({ lead: { name, email, status, kanban_status, tags } }: { lead: LeadDetails }) {
  const t = useTranslations("conversations.lead");
  const short = { maxLength: 64, isOptional: true };
  return (
    <>
      <FormField name="name" label={t("name")} defaultValue={name ?? ""} maxLength={200} isOptional />
      <FormField name="email" type="email" label={t("email")} defaultValue={email ?? ""} isOptional />
      <FormField name="status" label={t("status")} defaultValue={status} {...short} />
      <FormField name="kanban_status" label={t("stage")} defaultValue={kanban_status ?? ""} {...short} />
      <FormField
        name="tags"
        label={t("tags")}
        hint={t("tagsHint")}
        defaultValue={tags.join(", ")}
        isOptional
      />
    </>
  );
}

/** Reads texts, numbers and dates from the form. An empty field removes the value. */
function readFields(
  declared: readonly Field[],
  form: Partial<Record<string, string>>,
): Record<string, Value> {
  const written = declared.filter(({ name }) => form[FIELD + name] !== undefined);
  return Object.fromEntries(
    written.map(({ name, type }) => {
      const text = form[FIELD + name] ?? "";
      if (text === "") return [name, null];
      return [name, type === "number" ? Number(text.replace(",", ".")) : text];
    }),
  );
}

interface CustomFieldProps {
  field: Field;
  value: Value;
  onChange(value: Value): void;
}

function CustomField({ field: { name, type, options }, value, onChange }: CustomFieldProps) {
  const t = useTranslations("conversations.lead");
  if (type === "boolean") return <CheckField label={name} isSelected={value === true} onChange={onChange} />;
  if (type === "select") {
    const texts = Object.fromEntries([["", t("noChoice")], ...options.map((option) => [option, option])]);
    return (
      <PickList
        label={name}
        value={String(value ?? "")}
        options={texts}
        onChange={(next) => onChange(next || null)}
      />
    );
  }
  const hint = type === "date" ? t("dateHint") : type === "number" ? t("numberHint") : undefined;
  return (
    <FormField
      name={FIELD + name}
      label={name}
      {...(hint && { hint })}
      defaultValue={value === null ? "" : String(value)}
      maxLength={2000}
      isOptional
    />
  );
}
