import type { LaneKind } from "../../engine/engine.ts";
import type { Db } from "../../platform/db/database.ts";
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

export interface NodeIntegrationsOptions extends Omit<IntegrationDeps, "pathTokens"> {
  /** For what requests ask; `db` is for the lanes. */
  requestDb: Db;
}

export function createNodeIntegrations({ requestDb, ...options }: NodeIntegrationsOptions): NodeIntegrations {
  const pathTokens = createChatwootPathTokens({ ...options, db: requestDb });
  const deps = { ...options, pathTokens };
  const providers = createProviders(deps);
  return {
    handlers: integrationHandlers({ ...deps, db: requestDb }, providers),
    lane: integrationLane(deps, providers),
    pathTokens,
    tidy: () => deleteStaleIntegrationData(deps.db),
  };
}
