import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { TypedConfirm } from "../../components/dialogs/typed-confirm.tsx";
import { UnsavedGuard, useEntered } from "../../components/dialogs/unsaved-guard.tsx";
import { ErrorNotice, Notice, useRequestError } from "../../components/error-notice.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { PickList } from "../../components/fields/pick-list.tsx";
import { readForm, readLimit } from "../../components/fields/read-search.ts";
import { useSizeFormat } from "../../components/formats.tsx";
import { PageHeader } from "../../components/page-header.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { accountQuery } from "../../gateway/queries.ts";
import { saveStream } from "../../gateway/save-stream.ts";
import { useAccess } from "../../gateway/use-access.ts";
import { dataRequestsQuery, type OwnAccount } from "./account-queries.ts";
import { ConsentRecords } from "./consent-records.tsx";
import { DataRequests } from "./data-requests.tsx";

export function PrivacyPage() {
  const t = useTranslations("account.privacy");
  const { may } = useAccess();
  const { data } = useQuery(accountQuery);
  return (
    <>
      <PageHeader title={t("title")} lead={t("lead")} />
      {may("admin") && data && (
        <>
          <RetentionForm account={data} />
          <div className="columns">
            <ExportData />
            <AnonymiseData accountName={data.name} />
          </div>
        </>
      )}
      {may("account") && <DataRequests />}
      <ConsentRecords />
      <a href="/docs/waygate/privacy">{t("guide")}</a>
    </>
  );
}

/** Exports all data of the account as one file. */
function ExportData() {
  const t = useTranslations("account.exportData");
  const queries = useQueryClient();
  const size = useSizeFormat();
  const [received, setReceived] = useState(0);
  const save = useMutation({
    mutationFn: async () => {
      setReceived(0);
      const { stream } = await gateway.exportData();
      const name = `waygate-export-${new Date().toISOString().slice(0, 10)}.json`;
      const end = await saveStream(stream, { name, type: "application/json", onProgress: setReceived });
      // The export is complete only if its JSON ends.
      return { isWhole: end.trimEnd().endsWith("}") };
    },
    onSettled: () => queries.invalidateQueries({ queryKey: dataRequestsQuery.queryKey }),
  });
  return (
    <section className="card">
      <h2>{t("title")}</h2>
      <p>{t("help")}</p>
      <ErrorNotice error={save.error} />
      {save.data && (
        <Notice tone={save.data.isWhole ? "success" : "danger"} isUrgent={!save.data.isWhole}>
          <p>{t(save.data.isWhole ? "done" : "broken", { size: size(received) })}</p>
        </Notice>
      )}
      <div className="buttons">
        <ActionButton isPending={save.isPending} onPress={() => save.mutate()}>
          {t("start")}
        </ActionButton>
        {save.isPending && (
          <p className="hint" role="status">
            {t("progress", { size: size(received) })}
          </p>
        )}
      </div>
    </section>
  );
}

const SCOPES = ["messages", "conversations", "leads", "account", "all"] as const;
type Scope = (typeof SCOPES)[number];

/** Removes personal data irreversibly. */
function AnonymiseData({ accountName }: { accountName: string }) {
  const t = useTranslations("account.anonymise");
  const queries = useQueryClient();
  const [scope, setScope] = useState<Scope>("messages");
  const anonymise = useMutation({
    mutationFn: () => gateway.anonymizeData({ scope }),
    onSuccess: () => queries.invalidateQueries(),
  });
  const names = Object.fromEntries(SCOPES.map((one) => [one, t(`scopes.${one}`)])) as Record<Scope, string>;
  const result = anonymise.data?.data;
  const changed = Object.values(result?.affected ?? {}).reduce((all, rows) => all + rows, 0);
  return (
    <section className="card">
      <h2>{t("title")}</h2>
      <p>{t("help")}</p>
      <PickList<Scope> label={t("scope")} value={scope} options={names} onChange={setScope} />
      <p className="hint">{t(`consequences.${scope}`)}</p>
      {result && (
        <Notice tone={result.status === "failed" ? "danger" : "success"}>
          <p>{result.status === "completed" ? t("done", { count: changed }) : t("going")}</p>
        </Notice>
      )}
      <div className="buttons">
        <TypedConfirm
          label={t("start")}
          title={t("confirmTitle", { scope: names[scope] })}
          consequence={
            <>
              <p>{t(`consequences.${scope}`)}</p>
              <p>{t("irreversible")}</p>
            </>
          }
          word={accountName}
          confirmLabel={t("confirm")}
          mutation={anonymise}
          onConfirm={() => anonymise.mutateAsync()}
        />
      </div>
    </section>
  );
}

const KINDS = ["message", "campaign", "lead", "event", "log"] as const;
type Kind = (typeof KINDS)[number];
type Setting = `${Kind}_retention_days`;

/** Retention in days for each kind of data. */
function RetentionForm({ account }: { account: OwnAccount }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const { isEntered, clear, listener } = useEntered();
  const save = useMutation({
    mutationFn: (settings: Partial<Record<Setting, number | null>>) => gateway.updateAccount({ settings }),
    onSuccess: () => {
      clear();
      showToast(t("common.saved"));
      return queries.invalidateQueries({ queryKey: accountQuery.queryKey, exact: true });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = readForm(event.currentTarget);
    const entries = KINDS.map((kind) => [
      `${kind}_retention_days`,
      readLimit(typed[`${kind}_retention_days`]),
    ]);
    save.mutate(Object.fromEntries(entries));
  };
  const { fields } = useRequestError(save.error, "settings.");
  return (
    <section className="card">
      <h2>{t("account.retention.title")}</h2>
      <p>{t("account.retention.lead")}</p>
      <Form className="stack" onSubmit={submit} {...listener} validationErrors={fields}>
        <UnsavedGuard isDirty={isEntered} />
        {Object.keys(fields).length === 0 && <ErrorNotice error={save.error} />}
        <div className="field-grid">
          {KINDS.map((kind) => (
            <RetentionField key={kind} kind={kind} account={account} />
          ))}
        </div>
        <div className="buttons">
          <ActionButton type="submit" isPending={save.isPending}>
            {t("common.save")}
          </ActionButton>
        </div>
      </Form>
    </section>
  );
}

function RetentionField({ kind, account: { settings, plan } }: { kind: Kind; account: OwnAccount }) {
  const t = useTranslations("account.retention");
  const ceiling = plan.features[`max_${kind}_retention_days`];
  return (
    <FormField
      name={`${kind}_retention_days`}
      label={t(`${kind}s`)}
      hint={typeof ceiling === "number" ? t("ceiling", { days: ceiling }) : t("noCeiling")}
      defaultValue={String(settings[`${kind}_retention_days`] ?? "")}
      maxLength={5}
      autoComplete="off"
      isOptional
    />
  );
}
