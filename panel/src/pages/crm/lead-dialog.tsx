import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { FormField, PhoneField } from "../../components/fields/form-field.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import type { Lead } from "./crm-queries.ts";

type Fields = Partial<Record<string, string>>;

export function LeadDialog({ lead, kind = "secondary" }: { lead?: Lead; kind?: "primary" | "secondary" }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: (fields: Fields) =>
      lead === undefined
        ? gateway.createLead(toInput(fields, false))
        : gateway.updateLead({ id: lead.id, ...toInput(fields, true) }),
    onSuccess: () => {
      showToast(t("common.saved"));
      return queries.invalidateQueries({ queryKey: ["crm"] });
    },
  });
  const value = (text: string | null | undefined) => (text ? { defaultValue: text } : {});
  return (
    <FormDialog
      label={t(lead ? "common.edit" : "crm.create")}
      kind={kind}
      title={t(lead ? "crm.editTitle" : "crm.createTitle")}
      submitLabel={t("common.save")}
      mutation={save}
      onSubmit={(fields) => save.mutateAsync(fields)}
      isGuarded
    >
      <p className="hint">{t("crm.identityHint")}</p>
      <FormField name="name" label={t("crm.name")} maxLength={200} isOptional {...value(lead?.name)} />
      <PhoneField
        name="phone"
        label={t("crm.phone")}
        hint={t("crm.phoneHint")}
        isOptional
        {...value(lead?.phone && `+${lead.phone}`)}
      />
      <FormField
        name="email"
        type="email"
        label={t("crm.email")}
        maxLength={254}
        isOptional
        {...value(lead?.email)}
      />
      <FormField name="status" label={t("crm.status")} maxLength={64} isOptional {...value(lead?.status)} />
      <FormField
        name="kanban_status"
        label={t("crm.stage")}
        maxLength={64}
        isOptional
        {...value(lead?.kanban_status)}
      />
      {lead === undefined && (
        <FormField name="tags" label={t("crm.tags")} hint={t("crm.tagsHint")} maxLength={2000} isOptional />
      )}
    </FormDialog>
  );
}

/** An empty field of an existing contact is removed. */
function toInput(
  { name = "", phone = "", email = "", status = "", kanban_status = "", tags = "" }: Fields,
  isChange: boolean,
) {
  const text = (key: string, value: string) =>
    value.trim() === "" ? (isChange ? { [key]: null } : {}) : { [key]: value.trim() };
  const list = tags
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
  return {
    ...text("name", name),
    ...text("phone", phone),
    ...text("email", email),
    ...text("kanban_status", kanban_status),
    ...(status.trim() !== "" && { status: status.trim() }),
    ...(list.length > 0 && { tags: list }),
  };
}
