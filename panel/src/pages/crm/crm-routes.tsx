import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute, withId } from "../../shell/root-routes.tsx";

const leads = createRoute({
  getParentRoute: () => shellRoute,
  path: "/crm",
  component: lazyRouteComponent(() => import("./leads-page.tsx"), "LeadsPage"),
});
const lead = createRoute({
  getParentRoute: () => shellRoute,
  path: "/crm/$id",
  ...withId,
  component: lazyRouteComponent(() => import("./lead-page.tsx"), "LeadPage"),
});
const quickReplies = createRoute({
  getParentRoute: () => shellRoute,
  path: "/quick-replies",
  component: lazyRouteComponent(() => import("./quick-replies-page.tsx"), "QuickRepliesPage"),
});

export const crmRoutes = [leads, lead, quickReplies] as const;
