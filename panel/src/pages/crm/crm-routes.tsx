import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute, withId } from "../../shell/root-routes.tsx";
import { readLeadFilter } from "./lead-filters.ts";

const leads = createRoute({
  getParentRoute: () => shellRoute,
  path: "/crm",
  validateSearch: readLeadFilter,
  component: lazyRouteComponent(() => import("./leads-page.tsx"), "LeadsPage"),
});
const board = createRoute({
  getParentRoute: () => shellRoute,
  path: "/crm/board",
  validateSearch: readLeadFilter,
  component: lazyRouteComponent(() => import("./board-page.tsx"), "BoardPage"),
});
const importing = createRoute({
  getParentRoute: () => shellRoute,
  path: "/crm/import",
  component: lazyRouteComponent(() => import("./import-page.tsx"), "ImportPage"),
});
const fields = createRoute({
  getParentRoute: () => shellRoute,
  path: "/crm/fields",
  component: lazyRouteComponent(() => import("./fields-page.tsx"), "FieldsPage"),
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

export const crmRoutes = [leads, board, importing, fields, lead, quickReplies] as const;
