import "./crm.css";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { ConfirmDialog } from "../../components/dialogs/confirm-dialog.tsx";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { ErrorNotice, Notice } from "../../components/error-notice.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { EmptyState, LoadingState, PageHeader } from "../../components/page-header.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { sessionQuery } from "../../gateway/queries.ts";
import { ContactsTabs } from "./contacts-tabs.tsx";
import { type CustomField, fieldsQuery } from "./crm-queries.ts";

/** Custom fields of contacts. Only administrators change them. */
export function FieldsPage() {
  const t = useTranslations("crm");
  const session = useQuery(sessionQuery);
  const { data, error, isPending, refetch } = useQuery(fieldsQuery);
  const role = session.data?.user.role;
  const mayChange = role === "admin" || role === "super_admin";
  return (
    <>
      <PageHeader title={t("title")} lead={t("fieldsLead")}>
        {mayChange && <FieldDialog kind="primary" />}
      </PageHeader>
      <ContactsTabs />
      {!mayChange && session.data && (
        <Notice tone="neutral">
          <p>{t("fieldsReadOnly")}</p>
        </Notice>
      )}
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <LoadingState />}
      {data?.length === 0 && <EmptyState title={t("noFields")} help={t("noFieldsHelp")} />}
      {data && data.length > 0 && (
        <ul className="rows" aria-label={t("fieldsTab")}>
          {data.map((field) => (
            <FieldRow key={field.id} field={field} mayChange={mayChange} />
          ))}
        </ul>
      )}
    </>
  );
}

function FieldRow({ field, mayChange }: { field: CustomField; mayChange: boolean }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => gateway.deleteCustomField({ id: field.id }),
    onSuccess: () => showToast(t("crm.fieldRemoved", { name: field.name })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["crm"] }),
  });
  return (
    <li className="row field-row">
      <div>
        <h2>{field.name}</h2>
        <p className="code">{`{{custom_fields.${field.name}}}`}</p>
      </div>
      <div>
        <p>{t(`crm.fieldTypes.${field.type}`)}</p>
        {field.options.length > 0 && <p className="hint">{field.options.join(" · ")}</p>}
      </div>
      {mayChange && (
        <div className="buttons">
          <FieldDialog field={field} />
          <ConfirmDialog
            label={t("common.delete")}
            title={t("crm.fieldRemoveTitle", { name: field.name })}
            consequence={t("crm.fieldRemoveHelp")}
            confirmLabel={t("common.delete")}
            onConfirm={() => remove.mutate()}
          />
          <ErrorNotice error={remove.error} />
        </div>
      )}
    </li>
  );
}

const TYPES = [
  "text",
  "number",
  "boolean",
  "date",
  "select",
] as const satisfies readonly CustomField["type"][];

function FieldDialog({ field, kind = "secondary" }: { field?: CustomField; kind?: "primary" | "secondary" }) {
  const t = useTranslations();
  const [type, setType] = useState<CustomField["type"]>(field?.type ?? "text");
  const save = useSaveField(field, type);
  const types = Object.fromEntries(TYPES.map((one) => [one, t(`crm.fieldTypes.${one}`)]));
  return (
    <FormDialog
      label={t(field ? "common.edit" : "crm.addField")}
      kind={kind}
      title={t(field ? "crm.editField" : "crm.addField")}
      submitLabel={t("common.save")}
      mutation={save}
      onSubmit={(fields) => save.mutateAsync(fields)}
    >
      <FormField
        name="name"
        label={t("crm.fieldName")}
        maxLength={64}
        {...(field && { defaultValue: field.name })}
      />
      {field === undefined && (
        <PickList
          label={t("crm.fieldType")}
          value={type as string}
          options={types}
          onChange={(next) => setType(next as CustomField["type"])}
        />
      )}
      {type === "select" && (
        <FormField
          name="options"
          label={t("crm.fieldOptions")}
          hint={t("crm.fieldOptionsHint")}
          isLong
          defaultValue={field?.options.join("\n") ?? ""}
        />
      )}
    </FormDialog>
  );
}

function useSaveField(field: CustomField | undefined, type: CustomField["type"]) {
  const t = useTranslations();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ name = "", options = "" }: Partial<Record<string, string>>) => {
      const list = options
        .split("\n")
        .map((one) => one.trim())
        .filter((one) => one !== "");
      const choices = type === "select" ? { options: list } : {};
      return field === undefined
        ? gateway.createCustomField({ name, type, ...choices })
        : gateway.updateCustomField({ id: field.id, name, ...choices });
    },
    onSuccess: () => {
      showToast(t("common.saved"));
      return queries.invalidateQueries({ queryKey: ["crm"] });
    },
  });
}
