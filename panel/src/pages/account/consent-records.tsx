import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { ListExport } from "../../components/csv/list-export.tsx";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { FormField, PhoneField } from "../../components/fields/form-field.tsx";
import { NamedPick } from "../../components/fields/pick-list.tsx";
import { formatPhone, RelativeTime } from "../../components/formats.tsx";
import { PagedList, rowsOf } from "../../components/paged-list.tsx";
import { StatusDot } from "../../components/status-dot.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { type ConsentRecord, consentQuery } from "./account-queries.ts";

const COLUMNS = [
  "consentId",
  "userId",
  "lead_id",
  "phone",
  "purpose",
  "consent_type",
  "granted",
  "text_version",
  "channel",
  "current",
  "created_at",
] as const;

/** Consent records are append-only. */
export function ConsentRecords() {
  const t = useTranslations("account.consent");
  const query = useInfiniteQuery(consentQuery);
  const { data } = query;
  const rows = rowsOf(data);
  return (
    <section className="card">
      <h2>{t("title")}</h2>
      <p>{t("help")}</p>
      <PagedList
        query={query}
        className="entries"
        label={t("title")}
        none={<p className="hint">{t("none")}</p>}
      >
        {(row) => <ConsentEntry key={row.consentId} row={row} />}
      </PagedList>
      <div className="buttons">
        <RecordConsent />
        {rows.length > 0 && (
          <ListExport<ConsentRecord>
            name="consent"
            columns={COLUMNS}
            readPage={(page) => gateway.listConsent({ userId: "me", ...page })}
          />
        )}
      </div>
    </section>
  );
}

function ConsentEntry({ row }: { row: ConsentRecord }) {
  const t = useTranslations("account.consent");
  const subject =
    row.phone !== null
      ? formatPhone(row.phone)
      : row.lead_id !== null
        ? t("lead", { id: row.lead_id })
        : row.userId !== null
          ? t("user", { id: row.userId })
          : t("account");
  const tone = !row.current ? "neutral" : row.granted ? "success" : "danger";
  return (
    <li>
      <div>
        <p>
          <strong>{subject}</strong> · {row.purpose}
        </p>
        <p className="hint">
          <RelativeTime at={row.created_at} />
          {row.channel !== null && ` · ${row.channel}`}
        </p>
      </div>
      <span className="pill" data-tone={tone}>
        <StatusDot tone={tone} />
        {t(!row.current ? "replaced" : row.granted ? "granted" : "withdrawn")}
      </span>
    </li>
  );
}

function RecordConsent() {
  const t = useTranslations("account.consent");
  const queries = useQueryClient();
  const record = useMutation({
    mutationFn: (input: Parameters<typeof gateway.recordConsent>[0]) => gateway.recordConsent(input),
    onSuccess: () => {
      showToast(t("recorded"));
      return queries.invalidateQueries({ queryKey: consentQuery.queryKey });
    },
  });
  const submit = ({ phone = "", purpose = "", granted, channel = "" }: Partial<Record<string, string>>) =>
    record.mutateAsync({
      phone,
      purpose,
      consent_type: granted === "yes" ? "opt_in" : "opt_out",
      granted: granted === "yes",
      ...(channel !== "" && { channel }),
    });
  return (
    <FormDialog
      label={t("record")}
      title={t("recordTitle")}
      submitLabel={t("record")}
      mutation={record}
      onSubmit={submit}
    >
      <PhoneField name="phone" label={t("phone")} hint={t("phoneHint")} />
      <FormField name="purpose" label={t("purpose")} hint={t("purposeHint")} maxLength={64} />
      <NamedPick name="granted" label={t("decision")} options={{ yes: t("granted"), no: t("withdrawn") }} />
      <FormField name="channel" label={t("channel")} hint={t("channelHint")} maxLength={64} isOptional />
    </FormDialog>
  );
}
