import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { instanceRoute } from "../../shell/instance-route.tsx";
import { numberParam } from "../../shell/number-param.ts";
import { readAttemptFilter, readEventFilter, readPeriod } from "./filters.ts";

const frame = createRoute({
  getParentRoute: () => instanceRoute,
  path: "/webhooks",
  component: lazyRouteComponent(() => import("./webhooks-frame.tsx"), "WebhooksFrame"),
});
const list = createRoute({
  getParentRoute: () => frame,
  path: "/",
  validateSearch: readPeriod,
  component: lazyRouteComponent(() => import("./webhooks-page.tsx"), "WebhooksPage"),
});
const create = createRoute({
  getParentRoute: () => frame,
  path: "/new",
  component: lazyRouteComponent(() => import("./new-webhook-page.tsx"), "NewWebhookPage"),
});
const events = createRoute({
  getParentRoute: () => frame,
  path: "/events",
  validateSearch: readEventFilter,
  component: lazyRouteComponent(() => import("./deliveries/events-page.tsx"), "EventsPage"),
});
const event = createRoute({
  getParentRoute: () => frame,
  path: "/events/$eventId",
  component: lazyRouteComponent(() => import("./deliveries/event-page.tsx"), "EventPage"),
});
const attempts = createRoute({
  getParentRoute: () => frame,
  path: "/attempts",
  validateSearch: readAttemptFilter,
  component: lazyRouteComponent(() => import("./deliveries/attempts-page.tsx"), "AttemptsPage"),
});
const attempt = createRoute({
  getParentRoute: () => frame,
  path: "/attempts/$logId",
  ...numberParam("logId"),
  component: lazyRouteComponent(() => import("./deliveries/attempt-page.tsx"), "AttemptPage"),
});
const detail = createRoute({
  getParentRoute: () => frame,
  path: "/$webhookId",
  ...numberParam("webhookId"),
  validateSearch: readPeriod,
  component: lazyRouteComponent(() => import("./webhook-page.tsx"), "WebhookPage"),
});
const edit = createRoute({
  getParentRoute: () => frame,
  path: "/$webhookId/edit",
  ...numberParam("webhookId"),
  component: lazyRouteComponent(() => import("./edit-webhook-page.tsx"), "EditWebhookPage"),
});

const pages = [list, create, events, event, attempts, attempt, detail, edit] as const;

export const webhookRoutes = [frame.addChildren([...pages])] as const;
