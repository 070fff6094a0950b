import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../shell/root-routes.tsx";
import { ROLES, type Role } from "./account-queries.ts";

const settings = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings",
  component: lazyRouteComponent(() => import("./settings-page.tsx"), "SettingsPage"),
});

const account = createRoute({
  getParentRoute: () => shellRoute,
  path: "/account",
  component: lazyRouteComponent(() => import("./account-frame.tsx"), "AccountFrame"),
});
const overview = createRoute({
  getParentRoute: () => account,
  path: "/",
  component: lazyRouteComponent(() => import("./account-page.tsx"), "AccountPage"),
});
const users = createRoute({
  getParentRoute: () => account,
  path: "/users",
  component: lazyRouteComponent(() => import("./users-page.tsx"), "UsersPage"),
  validateSearch: ({ role }: Record<string, unknown>): { role?: Role } => {
    const known = ROLES.find((one) => one === role);
    return known === undefined ? {} : { role: known };
  },
});
const keys = createRoute({
  getParentRoute: () => account,
  path: "/keys",
  component: lazyRouteComponent(() => import("./keys-page.tsx"), "KeysPage"),
});
const assistants = createRoute({
  getParentRoute: () => account,
  path: "/assistants",
  component: lazyRouteComponent(() => import("./assistants-page.tsx"), "AssistantsPage"),
});
const privacy = createRoute({
  getParentRoute: () => account,
  path: "/privacy",
  component: lazyRouteComponent(() => import("./privacy-page.tsx"), "PrivacyPage"),
});
const security = createRoute({
  getParentRoute: () => account,
  path: "/security",
  component: lazyRouteComponent(() => import("./security-page.tsx"), "SecurityPage"),
});

export const accountRoutes = [
  account.addChildren([overview, users, keys, assistants, privacy, security]),
  settings,
] as const;
