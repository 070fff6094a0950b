import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, Outlet, redirect } from "@tanstack/react-router";
import { Toasts } from "../components/toasts.tsx";
import { toSignInSearch } from "../gateway/access.ts";
import { isSignedOut, sessionQuery } from "../gateway/queries.ts";
import { AppShell } from "./app-shell.tsx";
import { numberParam } from "./number-param.ts";

interface RouterContext {
  queries: QueryClient;
}

export const rootRoute = createRootRouteWithContext<RouterContext>()({
  component: () => (
    <>
      <Outlet />
      <Toasts />
    </>
  ),
});

export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  component: AppShell,
  beforeLoad: async ({ context: { queries }, location }) => {
    try {
      await queries.ensureQueryData(sessionQuery);
    } catch (error) {
      if (!isSignedOut(error)) throw error;
      throw redirect({ to: "/sign-in", search: toSignInSearch(location.href) });
    }
  },
});

export const withId = numberParam("id");
