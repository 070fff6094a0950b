import type { LaneKind } from "../../engine/engine.ts";
import type { Config } from "../../platform/config.ts";
import type { Handlers } from "../../platform/handler.ts";
import { type ChatwootPathTokens, createChatwootPathTokens } from "./chatwoot/path-tokens.ts";
import type { integrationsContract } from "./contract.ts";
import { integrationLane } from "./integration-lane.ts";
import { integrationHandlers } from "./integrations.ts";
import type { IntegrationDeps } from "./provider.ts";
import { createProviders } from "./providers.ts";
import { deleteStaleIntegrationData } from "./tidy.ts";

/** The integrations of this node, as the rest of the process sees them. */
export interface NodeIntegrations {
  handlers: Handlers<typeof integrationsContract>;
  lane: LaneKind;
  /** What opens the addresses that other sides call. */
  pathTokens: ChatwootPathTokens;
  /** Drops what is over. */
  tidy(): Promise<void>;
}

type Shared = Omit<
  IntegrationDeps,
  "links" | "converter" | "maxBytes" | "sendHoldMs" | "baseUrl" | "pathTokens"
>;

export interface NodeIntegrationsOptions extends Shared {
  config: Config;
  media: Pick<IntegrationDeps, "links" | "converter">;
}

export function createNodeIntegrations({
  config,
  media,
  ...shared
}: NodeIntegrationsOptions): NodeIntegrations {
  const { sendHoldMs, baseUrl, mediaMaxBytes: maxBytes } = config;
  const { links, converter } = media;
  const pathTokens = createChatwootPathTokens(shared);
  const deps = { ...shared, links, converter, maxBytes, sendHoldMs, baseUrl, pathTokens };
  const providers = createProviders(deps);
  return {
    handlers: integrationHandlers(deps, providers),
    lane: integrationLane(deps, providers),
    pathTokens,
    tidy: () => deleteStaleIntegrationData(deps.db),
  };
}
