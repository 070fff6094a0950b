import { createHealth } from "../health.ts";
import type { IntegrationDeps, Provider } from "../provider.ts";
import { createBotCaller } from "./ask-bot.ts";
import { savedTypebotConfig, TYPEBOT_ALIASES, typebotConfig } from "./config.ts";
import { converse } from "./converse.ts";
import { goOn } from "./go-on.ts";
import { takeOver } from "./take-over.ts";
import { testBot } from "./test-bot.ts";

/** Bots of Typebot: what is received starts a flow or goes on with it, and what the flow says goes back to the chat. */
export function createTypebot(deps: IntegrationDeps): Provider {
  const health = createHealth(deps);
  const bot = { ...deps, health, bots: createBotCaller(deps, health) };
  return {
    name: "typebot",
    config: typebotConfig,
    aliases: TYPEBOT_ALIASES,
    secrets: ["api_token"],
    address: "base_url",
    wants(config) {
      const { ignore_groups } = savedTypebotConfig.parse(config);
      // Of what is sent only what a person wrote: it may take the chat over.
      return {
        events: ["message.received", "message.sent"],
        exclude: ignore_groups ? ["automatic", "groups"] : ["automatic"],
      };
    },
    test: (integration) => testBot(deps, health, integration),
    onEvent: (work) => (work.event.event === "message.sent" ? takeOver(bot, work) : converse(bot, work)),
    onTask: (work) => goOn(bot, work),
  };
}
