import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { instanceRoute } from "../../shell/instance-route.tsx";

const integrations = createRoute({
  getParentRoute: () => instanceRoute,
  path: "/integrations",
  component: lazyRouteComponent(() => import("./integrations-page.tsx"), "IntegrationsPage"),
});
const integration = createRoute({
  getParentRoute: () => instanceRoute,
  path: "/integrations/$provider",
  component: lazyRouteComponent(() => import("./integration-page.tsx"), "IntegrationPage"),
});

export const integrationRoutes = [integrations, integration] as const;
