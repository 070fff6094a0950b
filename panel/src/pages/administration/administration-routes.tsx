import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../shell/root-routes.tsx";

const administration = createRoute({
  getParentRoute: () => shellRoute,
  path: "/administration",
  component: lazyRouteComponent(() => import("./administration-page.tsx"), "AdministrationPage"),
});

export const administrationRoutes = [administration] as const;
