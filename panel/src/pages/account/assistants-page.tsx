import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useFormatter, useTranslations } from "use-intl";
import { CodeSample } from "../../components/code-sample.tsx";
import { ListExport } from "../../components/csv/list-export.tsx";
import { ConfirmDialog } from "../../components/dialogs/confirm-dialog.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { EmptyState, PageHeader } from "../../components/page-header.tsx";
import { PagedList, rowsOf } from "../../components/paged-list.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { instancesQuery } from "../../gateway/queries.ts";
import { useAccess } from "../../gateway/use-access.ts";
import { type Assistant, assistantsQuery } from "./account-queries.ts";

const COLUMNS = [
  "id",
  "client_name",
  "client_id",
  "redirect_host",
  "user",
  "instance_ids",
  "scopes",
  "created_at",
  "expires_at",
  "last_used_at",
] as const;

/** The connected assistants with their permissions, and how to connect one. */
export function AssistantsPage() {
  const t = useTranslations("account.assistants");
  const { may } = useAccess();
  const query = useInfiniteQuery(assistantsQuery);
  const { data } = query;
  const rows = rowsOf(data);
  return (
    <>
      <PageHeader title={t("title")} lead={t(may("admin") ? "lead" : "leadAgent")}>
        {rows.length > 0 && (
          <ListExport<Assistant>
            name="assistants"
            columns={COLUMNS}
            readPage={(page) => gateway.listAssistants(page)}
          />
        )}
      </PageHeader>
      <PagedList
        query={query}
        label={t("title")}
        none={<EmptyState title={t("none")} help={t("noneHelp")} />}
      >
        {(row) => <AssistantRow key={row.id} row={row} />}
      </PagedList>
      <ConnectAssistant />
    </>
  );
}

function AssistantRow({ row }: { row: Assistant }) {
  const t = useTranslations("account.assistants");
  const queries = useQueryClient();
  const { data } = useInfiniteQuery(instancesQuery);
  const names = new Map(data?.pages.flatMap((page) => page.data).map(({ id, name }) => [id, name]));
  const disconnect = useMutation({
    mutationFn: () => gateway.disconnectAssistant({ id: row.id }),
    onSuccess: () => {
      showToast(t("disconnected", { name: row.client_name }));
      return queries.invalidateQueries({ queryKey: assistantsQuery.queryKey });
    },
  });
  const ends = useFormatter().dateTime(new Date(row.expires_at), { dateStyle: "medium" });
  const instances = row.instance_ids.map((id) => names.get(id) ?? String(id)).join(", ");
  return (
    <li className="row">
      <div>
        <h2>{row.client_name}</h2>
        <p className="hint">{t("by", { user: row.user.name, host: row.redirect_host })}</p>
        <p className="hint">
          {row.last_used_at === null
            ? t("neverUsed")
            : t.rich("used", { when: () => <RelativeTime at={row.last_used_at ?? ""} /> })}
        </p>
        <p className="hint">{t("ends", { when: ends })}</p>
      </div>
      <div>
        <p>{row.scopes.map((scope) => t(`scopes.${scope}`)).join(" ")}</p>
        <p className="hint">{t("reach", { instances })}</p>
        <ErrorNotice error={disconnect.error} />
      </div>
      <ConfirmDialog
        label={t("disconnect")}
        title={t("disconnectTitle", { name: row.client_name })}
        consequence={t("disconnectHelp")}
        confirmLabel={t("disconnect")}
        onConfirm={() => disconnect.mutate()}
      />
    </li>
  );
}

const KEY = "wg_...";

/** The three ways to connect an assistant, with the values to copy. */
function ConnectAssistant() {
  const t = useTranslations("account.connect");
  const address = `${location.origin}/mcp`;
  return (
    <section className="card">
      <h2>{t("title")}</h2>
      <p>{t("lead")}</p>
      <h3>{t("oauth")}</h3>
      <p className="hint">{t("oauthHelp")}</p>
      <CodeSample text={address} label={t("address")} />
      <details className="more">
        <summary>{t("url")}</summary>
        <p className="hint">{t("urlHelp")}</p>
        <CodeSample text={writeUrlSettings(address)} label={t("urlSample")} />
      </details>
      <details className="more">
        <summary>{t("command")}</summary>
        <p className="hint">{t("commandHelp")}</p>
        <CodeSample text={writeCommandSettings(location.origin)} label={t("commandSample")} />
      </details>
      <p className="hint">{t("reach")}</p>
      <a href="/docs/waygate/assistant-tools">{t("guide")}</a>
    </section>
  );
}

function writeUrlSettings(url: string): string {
  const headers = { Authorization: `Bearer ${KEY}` };
  return JSON.stringify({ mcpServers: { waygate: { type: "http", url, headers } } }, null, 2);
}

function writeCommandSettings(origin: string): string {
  const args = ["run", "--silent", "--prefix", "/opt/waygate", "mcp"];
  const env = { WAYGATE_BASE_URL: origin, WAYGATE_API_KEY: KEY };
  return JSON.stringify({ mcpServers: { waygate: { command: "npm", args, env } } }, null, 2);
}
