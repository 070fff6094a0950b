import { createRoute } from "@tanstack/react-router";
import { isOwnPath } from "../../gateway/access.ts";
import { rootRoute } from "../../shell/root-routes.tsx";
import { SignInPage } from "./sign-in-page.tsx";
import { WelcomePage } from "./welcome-page.tsx";

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  component: SignInPage,
  validateSearch: ({ to }: Record<string, unknown>): { to?: string } => (isOwnPath(to) ? { to } : {}),
});

const welcome = createRoute({
  getParentRoute: () => rootRoute,
  path: "/welcome",
  component: WelcomePage,
});

export const entryRoutes = [signIn, welcome] as const;
