import { createChatwootProvider } from "./chatwoot/chatwoot-provider.ts";
import type { IntegrationDeps, Providers } from "./integration-provider.ts";
import { createN8nProvider } from "./n8n/n8n-provider.ts";
import { createTypebotProvider } from "./typebot/typebot-provider.ts";

/** All integrations that an instance can have. */
export function createProviders(deps: IntegrationDeps): Providers {
  return {
    n8n: createN8nProvider(deps),
    typebot: createTypebotProvider(deps),
    chatwoot: createChatwootProvider(deps),
  };
}
