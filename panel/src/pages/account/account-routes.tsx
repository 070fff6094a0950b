import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../shell/root-routes.tsx";

const account = createRoute({
  getParentRoute: () => shellRoute,
  path: "/account",
  component: lazyRouteComponent(() => import("./account-page.tsx"), "AccountPage"),
});
const settings = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings",
  component: lazyRouteComponent(() => import("./settings-page.tsx"), "SettingsPage"),
});

export const accountRoutes = [account, settings] as const;
