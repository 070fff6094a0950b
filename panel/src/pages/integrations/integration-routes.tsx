import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { instanceRoute } from "../../shell/instance-route.tsx";

const integrations = createRoute({
  getParentRoute: () => instanceRoute,
  path: "/integrations",
  component: lazyRouteComponent(() => import("./integrations-page.tsx"), "IntegrationsPage"),
});

export const integrationRoutes = [integrations] as const;
