import type { QueryClient } from "@tanstack/react-query";
import { createRoute, createRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { ErrorNotice } from "./components/error-notice.tsx";
import { LoadingState } from "./components/page-header.tsx";
import { accountRoutes } from "./pages/account/account-routes.tsx";
import { administrationRoutes } from "./pages/administration/administration-routes.tsx";
import { campaignRoutes } from "./pages/campaigns/campaign-routes.tsx";
import { conversationRoutes } from "./pages/conversations/conversation-routes.tsx";
import { crmRoutes } from "./pages/crm/crm-routes.tsx";
import { entryRoutes } from "./pages/entry/entry-routes.tsx";
import { homeRoutes } from "./pages/home/home-routes.tsx";
import { instancePageRoutes, instanceRoutes } from "./pages/instances/instance-routes.tsx";
import { integrationRoutes } from "./pages/integrations/integration-routes.tsx";
import { NotFoundPage } from "./pages/not-found-page.tsx";
import { webhookRoutes } from "./pages/webhooks/webhook-routes.tsx";
import { instanceRoute } from "./shell/instance-route.tsx";
import { rootRoute, shellRoute } from "./shell/root-routes.tsx";

/** Unknown addresses, inside the frame. */
const unknownRoute = createRoute({ getParentRoute: () => shellRoute, path: "$", component: NotFoundPage });

const pagesOfInstance = instanceRoute.addChildren([
  ...instancePageRoutes,
  ...conversationRoutes,
  ...webhookRoutes,
  ...integrationRoutes,
]);
const pages = shellRoute.addChildren([
  ...homeRoutes,
  ...instanceRoutes,
  pagesOfInstance,
  ...campaignRoutes,
  ...crmRoutes,
  ...accountRoutes,
  ...administrationRoutes,
  unknownRoute,
]);

export function createPanelRouter(queries: QueryClient) {
  return createRouter({
    routeTree: rootRoute.addChildren([...entryRoutes, pages]),
    basepath: "/panel",
    context: { queries },
    defaultPreload: "intent",
    defaultPendingComponent: LoadingState,
    defaultErrorComponent: RouteError,
    defaultNotFoundComponent: NotFoundPage,
    scrollRestoration: true,
  });
}

function RouteError({ error, reset }: ErrorComponentProps) {
  return <ErrorNotice error={error} onRetry={reset} />;
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createPanelRouter>;
  }
}
