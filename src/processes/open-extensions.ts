import { z } from "zod";
import { contract as whole } from "../contract.ts";
import type { EventPayloads } from "../core/event-payloads.ts";
import type { Extension, ExtensionHandlers, ExtensionParts, OpenedExtension } from "../core/extension.ts";
import { GatewayError } from "../platform/gateway-error.ts";
import type { Contract, Route } from "../platform/http/route.ts";
import { keepOperations, readOpenApiFile } from "../platform/openapi/openapi-file.ts";

/** The routes and the work of all extensions of this gateway. */
export interface OpenedExtensions extends Pick<OpenedExtension, "pathTokens" | "notFoundPage" | "files"> {
  /** Every route of this gateway; those of extensions that are switched off only say so. */
  contract: Contract;
  handlers: ExtensionHandlers;
  lanes: NonNullable<OpenedExtension["lanes"]>;
  recurringJobs: NonNullable<OpenedExtension["recurringJobs"]>;
}

export interface ChosenExtensions {
  on: readonly Extension[];
  off: readonly Extension[];
}

export async function openExtensions(
  { on, off }: ChosenExtensions,
  parts: ExtensionParts,
): Promise<OpenedExtensions> {
  const opened = await Promise.all(on.map(async (extension) => (await extension.open?.(parts)) ?? {}));
  const closed = off.map(closedRoutes);
  return {
    ...Object.assign({}, ...opened),
    contract: Object.assign({}, whole, ...on.map(({ undescribed }) => undescribed), ...closed.map(routesOf)),
    handlers: Object.assign({}, ...opened.map(({ handlers }) => handlers), ...closed.map(handlersOf)),
    lanes: opened.flatMap(({ lanes = [] }) => lanes),
    recurringJobs: opened.flatMap(({ recurringJobs = [] }) => recurringJobs),
  };
}

/** The OpenAPI document with the routes and events that this gateway has. */
export function describeApi({ off }: ChosenExtensions, eventPayloads: EventPayloads): string {
  const routes = new Set(Object.keys(whole));
  const recorded = new Set(Object.keys(eventPayloads));
  for (const { contract = {}, events = {} } of off) {
    for (const name of Object.keys(contract)) routes.delete(name);
    for (const name of Object.keys(events)) recorded.delete(name);
  }
  return keepOperations(readOpenApiFile(), routes, recorded);
}

interface ClosedRoutes {
  contract: Contract;
  handlers: ExtensionHandlers;
}

const routesOf = ({ contract }: ClosedRoutes) => contract;
const handlersOf = ({ handlers }: ClosedRoutes) => handlers;

/** The routes of an extension that is switched off: without credential and input, since they do nothing. */
function closedRoutes({ name, contract = {} }: Extension): ClosedRoutes {
  const refuse = async () => {
    const sentence = `The extension ${name} is switched off on this gateway (WAYGATE_EXTENSIONS).`;
    throw new GatewayError("NOT_AVAILABLE", sentence);
  };
  const names = Object.keys(contract);
  return {
    contract: Object.fromEntries(
      Object.entries(contract).map(([route, { http, tag, summary }]) => [
        route,
        { http, tag, summary, access: "public", input: ANYTHING, output: z.never() } satisfies Route,
      ]),
    ),
    handlers: Object.fromEntries(names.map((route) => [route, refuse])),
  };
}

const ANYTHING = z.record(z.string(), z.unknown());
