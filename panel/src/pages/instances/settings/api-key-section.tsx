import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { CodeSample } from "../../../components/code-sample.tsx";
import { DescriptionList } from "../../../components/description-list.tsx";
import { ConfirmDialog } from "../../../components/dialogs/confirm-dialog.tsx";
import { ErrorNotice, Notice } from "../../../components/error-notice.tsx";
import { PickList } from "../../../components/fields/pick-list.tsx";
import { RelativeTime } from "../../../components/formats.tsx";
import { LoadingState } from "../../../components/page-header.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { gateway, type Instance } from "../../../gateway/gateway.ts";
import { apiKeyQuery } from "../instances-queries.ts";

const RENEWALS = {
  "0": { grace_seconds: 0 },
  "3600": { grace_seconds: 3_600 },
  "86400": { grace_seconds: 86_400 },
  leaked: { leaked: true },
} as const;
type Grace = keyof typeof RENEWALS;

/** The masked key of an instance, its scope, and its rotation. */
export function ApiKeySection({ row: { id, name, limits } }: { row: Instance }) {
  const t = useTranslations("apiKey");
  const common = useTranslations("common");
  const { data, error, refetch } = useQuery(apiKeyQuery(id));
  const limit = limits.instance_rate_limit_per_minute;
  return (
    <section className="card form-section" aria-label={t("title")}>
      <div>
        <h2>{t("title")}</h2>
        <p className="hint">{t("lead")}</p>
      </div>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && <LoadingState />}
      {data && (
        <>
          <DescriptionList
            items={[
              { name: t("key"), value: <span className="code">{data.token}</span> },
              { name: t("created"), value: <RelativeTime at={data.created_at} /> },
              {
                name: t("lastUsed"),
                value: data.last_used_at === null ? t("never") : <RelativeTime at={data.last_used_at} />,
              },
              ...(data.expires_at === null
                ? []
                : [{ name: t("ends"), value: <RelativeTime at={data.expires_at} /> }]),
              { name: t("descendants"), value: String(data.descendants) },
              { name: t("limit"), value: limit === null ? common("none") : t("perMinute", { limit }) },
            ]}
          />
          <KeyScope id={id} scope={data.scope} />
          <KeyRenewal id={id} name={name} descendants={data.descendants} />
        </>
      )}
    </section>
  );
}

function KeyScope({ id, scope }: { id: number; scope: "instance" | "account" }) {
  const t = useTranslations("apiKey");
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (next: "instance" | "account") => gateway.updateApiKey({ id, scope: next }),
    onSuccess: () => showToast(t("scopeSaved")),
    onSettled: () => queries.invalidateQueries({ queryKey: ["api-key", id] }),
  });
  const wider = scope === "instance" ? "account" : "instance";
  return (
    <div className="stack">
      <h3>{t("scope")}</h3>
      <p>{t(`scopes.${scope}`)}</p>
      <ErrorNotice error={change.error} />
      <div className="buttons">
        <ConfirmDialog
          label={t(`change.${wider}`)}
          title={t(`change.${wider}`)}
          consequence={t(`consequence.${wider}`)}
          confirmLabel={t("changeConfirm")}
          onConfirm={() => change.mutate(wider)}
        />
      </div>
    </div>
  );
}

const CONSEQUENCES = {
  "0": "renewNow",
  "3600": "renewLater",
  "86400": "renewLater",
  leaked: "renewLeaked",
} as const satisfies Record<Grace, string>;

type Renewed = Awaited<ReturnType<typeof gateway.regenerateApiKey>>["data"];

/** Instances created with the key, which keep existing when the key ends. */
function Descendants({ renewed: { descendants, descendants_ended } }: { renewed: Renewed }) {
  const t = useTranslations("apiKey");
  if (descendants.length === 0) return null;
  return (
    <>
      <p>{t(descendants_ended ? "descendantsEnded" : "descendantsKept")}</p>
      <ul>
        {descendants.map(({ id, name }) => (
          <li key={id}>
            <Link to="/instances/$id" params={{ id }}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The new key appears in this response only, so it is shown until the user closes it. */
function KeyRenewal({ id, name, descendants }: { id: number; name: string; descendants: number }) {
  const t = useTranslations("apiKey");
  const queries = useQueryClient();
  const [grace, setGrace] = useState<Grace>("86400");
  const renew = useMutation({
    mutationFn: () => gateway.regenerateApiKey({ id, ...RENEWALS[grace] }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["api-key", id] }),
  });
  if (renew.data)
    return (
      <Notice tone="info" title={t("newTitle")} isUrgent>
        <p>{t("newHelp")}</p>
        <CodeSample text={renew.data.data.api_key} label={t("newTitle")} />
        <Descendants renewed={renew.data.data} />
        <div className="buttons">
          <ActionButton onPress={() => renew.reset()}>{t("stored")}</ActionButton>
        </div>
      </Notice>
    );
  const options: Record<Grace, string> = {
    "86400": t("grace.86400"),
    "3600": t("grace.3600"),
    "0": t("grace.0"),
    leaked: t("grace.leaked"),
  };
  return (
    <div className="stack">
      <h3>{t("renewTitle")}</h3>
      <p className="hint">{t("renewHelp")}</p>
      <ErrorNotice error={renew.error} />
      <PickList<Grace> label={t("graceLabel")} value={grace} options={options} onChange={setGrace} />
      <div className="buttons">
        <ConfirmDialog
          label={t("renew")}
          title={t("renewConfirmTitle", { name })}
          consequence={t(CONSEQUENCES[grace], { count: descendants })}
          confirmLabel={t("renew")}
          onConfirm={() => renew.mutate()}
        />
      </div>
    </div>
  );
}
