import { expect, test } from "vitest";
import { chatwootConfig } from "./chatwoot/chatwoot-config.ts";
import { integrationsContract } from "./contract.ts";
import { n8nConfig } from "./n8n/n8n-config.ts";
import { typebotConfig } from "./typebot/typebot-config.ts";

test.each([
  ["n8n", n8nConfig],
  ["typebot", typebotConfig],
  ["chatwoot", chatwootConfig],
])("the route's description names every field of %s", (_, config) => {
  for (const field of Object.keys(config.shape))
    expect(integrationsContract.saveIntegration.description).toContain(`\`${field}\``);
});
