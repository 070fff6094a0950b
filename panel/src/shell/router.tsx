import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { isSignedOut, sessionQuery } from "../api/queries.ts";
import { FaultNotice } from "../components/fault-notice.tsx";
import { LoadingState } from "../components/loading-state.tsx";
import { Toasts } from "../components/toasts.tsx";
import { InstancesPage } from "../pages/instances-page.tsx";
import { NotFoundPage } from "../pages/not-found-page.tsx";
import { SignInPage } from "../pages/sign-in-page.tsx";
import { AppShell } from "./app-shell.tsx";

interface RouterContext {
  queries: QueryClient;
}

const root = createRootRouteWithContext<RouterContext>()({
  component: () => (
    <>
      <Outlet />
      <Toasts />
    </>
  ),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: SignInPage,
  validateSearch: ({ to }: Record<string, unknown>): { to?: string } => (isOwnPath(to) ? { to } : {}),
});

/** Only a path of the panel: a link must not lead a signed-in user elsewhere. */
function isOwnPath(to: unknown): to is string {
  return typeof to === "string" && /^\/(?![/\\])/.test(to) && to.length < 500;
}

const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: AppShell,
  beforeLoad: async ({ context: { queries }, location }) => {
    try {
      await queries.ensureQueryData(sessionQuery);
    } catch (error) {
      if (!isSignedOut(error)) throw error;
      const to = location.pathname === "/" ? undefined : location.pathname;
      throw redirect({ to: "/sign-in", search: to === undefined ? {} : { to } });
    }
  },
});

const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/instances", replace: true });
  },
});
const instances = createRoute({ getParentRoute: () => shell, path: "/instances", component: InstancesPage });
const newInstance = createRoute({
  getParentRoute: () => shell,
  path: "/instances/new",
  component: lazyRouteComponent(() => import("../pages/new-instance-page.tsx"), "NewInstancePage"),
});

const idParam = {
  parse: ({ id }: { id: string }) => ({ id: Number(id) }),
  stringify: ({ id }: { id: number }) => ({ id: String(id) }),
};
const instance = createRoute({
  getParentRoute: () => shell,
  path: "/instances/$id",
  params: idParam,
  component: lazyRouteComponent(() => import("../pages/instance-page.tsx"), "InstancePage"),
});
const link = createRoute({
  getParentRoute: () => shell,
  path: "/instances/$id/link",
  params: idParam,
  component: lazyRouteComponent(() => import("../pages/link-page.tsx"), "LinkPage"),
});
const send = createRoute({
  getParentRoute: () => shell,
  path: "/instances/$id/send",
  params: idParam,
  component: lazyRouteComponent(() => import("../pages/send-page.tsx"), "SendPage"),
});
const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings",
  component: lazyRouteComponent(() => import("../pages/settings-page.tsx"), "SettingsPage"),
});

const pages = shell.addChildren([home, instances, newInstance, instance, link, send, settings]);

export function createPanelRouter(queries: QueryClient) {
  return createRouter({
    routeTree: root.addChildren([signIn, pages]),
    basepath: "/panel",
    context: { queries },
    defaultPreload: "intent",
    defaultPendingComponent: LoadingState,
    defaultErrorComponent: RouteFault,
    defaultNotFoundComponent: NotFoundPage,
    scrollRestoration: true,
  });
}

function RouteFault({ error, reset }: ErrorComponentProps) {
  return <FaultNotice error={error} onRetry={reset} />;
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createPanelRouter>;
  }
}
