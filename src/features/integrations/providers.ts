import { createChatwoot } from "./chatwoot/chatwoot.ts";
import { createN8n } from "./n8n/n8n.ts";
import type { IntegrationDeps, Providers } from "./provider.ts";
import { createTypebot } from "./typebot/typebot.ts";

/** Everything that an instance can be integrated with. */
export function createProviders(deps: IntegrationDeps): Providers {
  return { n8n: createN8n(deps), typebot: createTypebot(deps), chatwoot: createChatwoot(deps) };
}
