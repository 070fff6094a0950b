import { createIntegrationHealth } from "../integration-health.ts";
import type { IntegrationDeps, IntegrationProvider } from "../integration-provider.ts";
import { createBotClient } from "./bot-client.ts";
import { pauseBotForAgent } from "./pause-bot-for-agent.ts";
import { resumeFlow } from "./resume-flow.ts";
import { runConversation } from "./run-conversation.ts";
import { testBot } from "./test-bot.ts";
import { savedTypebotConfig, TYPEBOT_ALIASES, typebotConfig } from "./typebot-config.ts";

/** Bots of Typebot: an inbound message starts or continues a flow, and the flow's replies go to the chat. */
export function createTypebotProvider(deps: IntegrationDeps): IntegrationProvider {
  const health = createIntegrationHealth(deps);
  const bot = { ...deps, health, botClient: createBotClient(deps, health) };
  return {
    name: "typebot",
    config: typebotConfig,
    aliases: TYPEBOT_ALIASES,
    secrets: ["api_token"],
    address: "base_url",
    wants(config) {
      const { ignore_groups } = savedTypebotConfig.parse(config);
      // Of outbound messages only those of a person: they may take over the chat.
      return {
        events: ["message.received", "message.sent"],
        exclude: ignore_groups ? ["automatic", "groups"] : ["automatic"],
      };
    },
    test: (integration) => testBot(deps, health, integration),
    onEvent: (work) =>
      work.event.event === "message.sent" ? pauseBotForAgent(bot, work) : runConversation(bot, work),
    onTask: (work) => resumeFlow(bot, work),
  };
}
