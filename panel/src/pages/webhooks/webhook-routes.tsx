import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { instanceRoute } from "../../shell/instance-route.tsx";

const webhooks = createRoute({
  getParentRoute: () => instanceRoute,
  path: "/webhooks",
  component: lazyRouteComponent(() => import("./webhooks-page.tsx"), "WebhooksPage"),
});

export const webhookRoutes = [webhooks] as const;
