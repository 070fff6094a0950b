import { createRoute } from "@tanstack/react-router";
import { InstanceFrame } from "./instance-frame.tsx";
import { shellRoute, withId } from "./root-routes.tsx";

/** The pages of one instance, which share a head and tabs. */
export const instanceRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/instances/$id",
  ...withId,
  component: InstanceFrame,
});
