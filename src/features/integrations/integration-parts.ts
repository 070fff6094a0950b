import type { LaneKind } from "../../engine/engine.ts";
import type { Config } from "../../platform/config.ts";
import type { Handlers } from "../../platform/handler.ts";
import { type ChatwootTokens, createChatwootTokens } from "./chatwoot/path-tokens.ts";
import type { integrationsContract } from "./contract.ts";
import { integrationLane } from "./integration-lane.ts";
import { integrationHandlers } from "./integrations.ts";
import type { IntegrationDeps } from "./provider.ts";
import { createProviders } from "./providers.ts";
import { tidyIntegrations } from "./tidy.ts";

/** The integrations of this node, as the rest of the process sees them. */
export interface IntegrationParts {
  handlers: Handlers<typeof integrationsContract>;
  lane: LaneKind;
  /** What opens the addresses that other sides call. */
  pathTokens: ChatwootTokens;
  /** Drops what is over. */
  tidy(): Promise<void>;
}

type Shared = Omit<
  IntegrationDeps,
  "links" | "converter" | "maxBytes" | "sendHoldMs" | "baseUrl" | "pathTokens"
>;

export interface IntegrationPartsOptions extends Shared {
  config: Config;
  media: Pick<IntegrationDeps, "links" | "converter">;
}

export function createIntegrations({ config, media, ...shared }: IntegrationPartsOptions): IntegrationParts {
  const { sendHoldMs, baseUrl, mediaMaxBytes: maxBytes } = config;
  const { links, converter } = media;
  const pathTokens = createChatwootTokens(shared);
  const deps = { ...shared, links, converter, maxBytes, sendHoldMs, baseUrl, pathTokens };
  const providers = createProviders(deps);
  return {
    handlers: integrationHandlers(deps, providers),
    lane: integrationLane(deps, providers),
    pathTokens,
    tidy: () => tidyIntegrations(deps.db),
  };
}
