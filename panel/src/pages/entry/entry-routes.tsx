import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "../../shell/root-routes.tsx";
import { SignInPage } from "./sign-in-page.tsx";
import { WelcomePage } from "./welcome-page.tsx";

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  component: SignInPage,
  validateSearch: ({ to }: Record<string, unknown>): { to?: string } => (isOwnPath(to) ? { to } : {}),
});

/** Only a path of the panel: a link must not lead a signed-in user elsewhere. */
function isOwnPath(to: unknown): to is string {
  return typeof to === "string" && /^\/(?![/\\])/.test(to) && to.length < 500;
}

const welcome = createRoute({
  getParentRoute: () => rootRoute,
  path: "/welcome",
  component: WelcomePage,
});

export const entryRoutes = [signIn, welcome] as const;
