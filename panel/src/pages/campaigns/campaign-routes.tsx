import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute, withId } from "../../shell/root-routes.tsx";
import { readCampaignFilter, readReportFilter } from "./campaign-filters.ts";

const campaigns = createRoute({
  getParentRoute: () => shellRoute,
  path: "/campaigns",
  validateSearch: readCampaignFilter,
  component: lazyRouteComponent(() => import("./campaigns-page.tsx"), "CampaignsPage"),
});
const create = createRoute({
  getParentRoute: () => shellRoute,
  path: "/campaigns/new",
  component: lazyRouteComponent(() => import("./new-campaign-page.tsx"), "NewCampaignPage"),
});
const campaign = createRoute({
  getParentRoute: () => shellRoute,
  path: "/campaigns/$id",
  ...withId,
  validateSearch: readReportFilter,
  component: lazyRouteComponent(() => import("./campaign-page.tsx"), "CampaignPage"),
});
const edit = createRoute({
  getParentRoute: () => shellRoute,
  path: "/campaigns/$id/edit",
  ...withId,
  component: lazyRouteComponent(() => import("./edit-campaign-page.tsx"), "EditCampaignPage"),
});

export const campaignRoutes = [campaigns, create, campaign, edit] as const;
