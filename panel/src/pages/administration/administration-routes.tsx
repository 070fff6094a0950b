import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readId, readOneOf, readText } from "../../components/fields/read-search.ts";
import { numberParam, parseId } from "../../shell/number-param.ts";
import { shellRoute } from "../../shell/root-routes.tsx";
import {
  ACCOUNT_STATUSES,
  ACCOUNT_TYPES,
  type AccountsSearch,
  INSTANCE_STATUSES,
  LOG_TYPES,
  type LogsSearch,
  type MonitorSearch,
  REQUEST_STATUSES,
  REQUEST_TYPES,
  type RequestsSearch,
} from "./administration-search.ts";

const administration = createRoute({
  getParentRoute: () => shellRoute,
  path: "/administration",
  component: lazyRouteComponent(() => import("./administration-frame.tsx"), "AdministrationFrame"),
});
const overview = createRoute({
  getParentRoute: () => administration,
  path: "/",
  component: lazyRouteComponent(() => import("./overview-page.tsx"), "OverviewPage"),
});

type Search = Record<string, unknown>;

const monitor = createRoute({
  getParentRoute: () => administration,
  path: "/monitor",
  component: lazyRouteComponent(() => import("./monitor-page.tsx"), "MonitorPage"),
  validateSearch: ({ status, account }: Search): MonitorSearch => ({
    status: readOneOf(INSTANCE_STATUSES, status),
    account: readId(account),
  }),
});
const accounts = createRoute({
  getParentRoute: () => administration,
  path: "/accounts",
  component: lazyRouteComponent(() => import("./accounts/accounts-page.tsx"), "AccountsPage"),
  validateSearch: ({ search, status, type, reseller }: Search): AccountsSearch => ({
    search: readText(search),
    status: readOneOf(ACCOUNT_STATUSES, status),
    type: readOneOf(ACCOUNT_TYPES, type),
    reseller: readId(reseller),
  }),
});
const newAccount = createRoute({
  getParentRoute: () => administration,
  path: "/accounts/new",
  component: lazyRouteComponent(() => import("./accounts/new-account-page.tsx"), "NewAccountPage"),
});
const account = createRoute({
  getParentRoute: () => administration,
  path: "/accounts/$accountId",
  ...numberParam("accountId"),
  component: lazyRouteComponent(() => import("./accounts/managed-account-page.tsx"), "ManagedAccountPage"),
});
const plans = createRoute({
  getParentRoute: () => administration,
  path: "/plans",
  component: lazyRouteComponent(() => import("./plans-page.tsx"), "PlansPage"),
});
const plan = createRoute({
  getParentRoute: () => administration,
  path: "/plans/$planId",
  params: { parse: parsePlan, stringify: ({ planId }: PlanParam) => ({ planId }) },
  component: lazyRouteComponent(() => import("./plan-page.tsx"), "PlanPage"),
});
const logs = createRoute({
  getParentRoute: () => administration,
  path: "/logs",
  component: lazyRouteComponent(() => import("./logs-page.tsx"), "LogsPage"),
  validateSearch: ({ type, account: id, instance, action, event, result }: Search): LogsSearch => ({
    type: readOneOf(LOG_TYPES, type),
    account: readId(id),
    instance: readId(instance),
    action: readText(action),
    event: readText(event),
    result: readOneOf(["good", "bad"] as const, result),
  }),
});
const backups = createRoute({
  getParentRoute: () => administration,
  path: "/backups",
  component: lazyRouteComponent(() => import("./backups-page.tsx"), "BackupsPage"),
});
const requests = createRoute({
  getParentRoute: () => administration,
  path: "/requests",
  component: lazyRouteComponent(() => import("./requests-page.tsx"), "RequestsPage"),
  validateSearch: ({ account: id, type, status }: Search): RequestsSearch => ({
    account: readId(id),
    type: readOneOf(REQUEST_TYPES, type),
    status: readOneOf(REQUEST_STATUSES, status),
  }),
});
const system = createRoute({
  getParentRoute: () => administration,
  path: "/system",
  component: lazyRouteComponent(() => import("./system-page.tsx"), "SystemPage"),
});

interface PlanParam {
  planId: string;
}

function parsePlan({ planId }: PlanParam): PlanParam {
  return { planId: planId === "new" ? planId : String(parseId(planId)) };
}

export const administrationRoutes = [
  administration.addChildren([
    overview,
    monitor,
    accounts,
    newAccount,
    account,
    plans,
    plan,
    logs,
    backups,
    requests,
    system,
  ]),
] as const;
