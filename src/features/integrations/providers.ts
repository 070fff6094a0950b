import { createChatwootProvider } from "./chatwoot/chatwoot.ts";
import { createN8nProvider } from "./n8n/n8n.ts";
import type { IntegrationDeps, Providers } from "./provider.ts";
import { createTypebotProvider } from "./typebot/typebot.ts";

/** Everything that an instance can be integrated with. */
export function createProviders(deps: IntegrationDeps): Providers {
  return {
    n8n: createN8nProvider(deps),
    typebot: createTypebotProvider(deps),
    chatwoot: createChatwootProvider(deps),
  };
}
