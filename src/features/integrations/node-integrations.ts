import type { LaneKind } from "../../engine/engine.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import { type ChatwootPathTokens, createChatwootPathTokens } from "./chatwoot/chatwoot-path-tokens.ts";
import type { integrationsContract } from "./contract.ts";
import { deleteStaleIntegrationData } from "./delete-stale-integration-data.ts";
import { integrationLane } from "./integration-lane.ts";
import type { IntegrationDeps } from "./integration-provider.ts";
import { integrationHandlers } from "./integrations.ts";
import { createProviders } from "./providers.ts";

/** The integrations of this node, as other parts of the process use them. */
export interface NodeIntegrations {
  handlers: Handlers<typeof integrationsContract>;
  lane: LaneKind;
  /** Verifies the tokens in the URLs that other sides call. */
  pathTokens: ChatwootPathTokens;
  /** Deletes expired data. */
  tidy(): Promise<void>;
}

type Shared = Omit<
  IntegrationDeps,
  "mediaUrls" | "converter" | "maxBytes" | "sendHoldMs" | "baseUrl" | "pathTokens"
>;

export interface NodeIntegrationsOptions extends Shared {
  config: Config;
  media: Pick<IntegrationDeps, "mediaUrls" | "converter">;
}

export function createNodeIntegrations({
  config,
  media,
  ...shared
}: NodeIntegrationsOptions): NodeIntegrations {
  const { sendHoldMs, baseUrl, mediaMaxBytes: maxBytes } = config;
  const { mediaUrls, converter } = media;
  const pathTokens = createChatwootPathTokens(shared);
  const deps = { ...shared, mediaUrls, converter, maxBytes, sendHoldMs, baseUrl, pathTokens };
  const providers = createProviders(deps);
  return {
    handlers: integrationHandlers(deps, providers),
    lane: integrationLane(deps, providers),
    pathTokens,
    tidy: () => deleteStaleIntegrationData(deps.db),
  };
}
