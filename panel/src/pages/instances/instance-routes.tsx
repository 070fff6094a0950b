import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { instanceRoute } from "../../shell/instance-route.tsx";
import { shellRoute, withId } from "../../shell/root-routes.tsx";
import { InstancesPage } from "./instances-page.tsx";
import { readInstanceFilter } from "./instances-queries.ts";
import { readLogFilter } from "./log-queries.ts";

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: "/instances",
  component: InstancesPage,
  validateSearch: readInstanceFilter,
});
const create = createRoute({
  getParentRoute: () => shellRoute,
  path: "/instances/new",
  component: lazyRouteComponent(() => import("./new-instance-page.tsx"), "NewInstancePage"),
});
const link = createRoute({
  getParentRoute: () => shellRoute,
  path: "/instances/$id/link",
  ...withId,
  component: lazyRouteComponent(() => import("./link-page.tsx"), "LinkPage"),
});
const send = createRoute({
  getParentRoute: () => shellRoute,
  path: "/instances/$id/send",
  ...withId,
  component: lazyRouteComponent(() => import("./send-page.tsx"), "SendPage"),
});

export const instanceRoutes = [list, create, link, send] as const;

const overview = createRoute({
  getParentRoute: () => instanceRoute,
  path: "/",
  component: lazyRouteComponent(() => import("./instance-page.tsx"), "InstancePage"),
});
const logs = createRoute({
  getParentRoute: () => instanceRoute,
  path: "/logs",
  validateSearch: readLogFilter,
  component: lazyRouteComponent(() => import("./instance-logs-page.tsx"), "InstanceLogsPage"),
});
const settings = createRoute({
  getParentRoute: () => instanceRoute,
  path: "/settings",
  component: lazyRouteComponent(
    () => import("./settings/instance-settings-page.tsx"),
    "InstanceSettingsPage",
  ),
});

export const instancePageRoutes = [overview, logs, settings] as const;
