import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute, withId } from "../../shell/root-routes.tsx";

const campaigns = createRoute({
  getParentRoute: () => shellRoute,
  path: "/campaigns",
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
  component: lazyRouteComponent(() => import("./campaign-page.tsx"), "CampaignPage"),
});

export const campaignRoutes = [campaigns, create, campaign] as const;
