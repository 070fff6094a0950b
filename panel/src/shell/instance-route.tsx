import { useQuery } from "@tanstack/react-query";
import { createRoute, Link, Outlet, useParams } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ErrorPage } from "../components/error-notice.tsx";
import { LoadingState, PageHeader, TabLinks } from "../components/page-header.tsx";
import { StatusPill } from "../components/status-dot.tsx";
import { instanceQuery, stateQuery } from "../gateway/queries.ts";
import { useAccess } from "../gateway/use-access.ts";
import { shellRoute, withId } from "./root-routes.tsx";

export const instanceRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/instances/$id",
  ...withId,
  component: InstanceFrame,
});

/** Name, status and tabs above every page of an instance. */
function InstanceFrame() {
  const t = useTranslations();
  const { id } = useParams({ from: "/shell/instances/$id" });
  const row = useQuery(instanceQuery(id));
  const state = useQuery(stateQuery(id));
  const { may } = useAccess();
  const error = row.error ?? state.error;
  // A failed refetch keeps the page, with the forms in it.
  if (error && !(row.data && state.data))
    return (
      <ErrorPage
        title={t("shell.instances")}
        breadcrumbs={<Link to="/instances">{t("common.back")}</Link>}
        error={error}
        onRetry={() => [row.refetch(), state.refetch()]}
      />
    );
  if (!row.data || !state.data) return <LoadingState />;
  return (
    <>
      <PageHeader
        title={row.data.name}
        breadcrumbs={<Link to="/instances">{t("common.back")}</Link>}
        lead={<StatusPill status={state.data.status} />}
      />
      <TabLinks label={t("shell.instanceNavigation", { name: row.data.name })}>
        <Link to="/instances/$id" params={{ id }} activeOptions={{ exact: true }}>
          {t("shell.overview")}
        </Link>
        <Link to="/instances/$id/chats" params={{ id }}>
          {t("conversations.title")}
        </Link>
        {may("admin") && (
          <>
            <Link to="/instances/$id/webhooks" params={{ id }}>
              {t("shell.webhooks")}
            </Link>
            <Link to="/instances/$id/integrations" params={{ id }}>
              {t("shell.integrations")}
            </Link>
          </>
        )}
        <Link to="/instances/$id/logs" params={{ id }}>
          {t("shell.logs")}
        </Link>
        {may("admin") && (
          <Link to="/instances/$id/settings" params={{ id }}>
            {t("shell.instanceSettings")}
          </Link>
        )}
      </TabLinks>
      <Outlet />
    </>
  );
}
