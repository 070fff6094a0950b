import type { TestReport } from "../contract.ts";
import { createIntegrationHealth, type IntegrationHealth } from "../integration-health.ts";
import type { IntegrationDeps, IntegrationProvider } from "../integration-provider.ts";
import type { Integration } from "../integration-row.ts";
import { createBotClient } from "./bot-client.ts";
import { NOT_A_VIEWER } from "./explain-typebot-response.ts";
import { pauseBotForAgent } from "./pause-bot-for-agent.ts";
import { readOutcome } from "./read-outcome.ts";
import { resumeFlow } from "./resume-flow.ts";
import { runConversation } from "./run-conversation.ts";
import { parseBotResponse, requestTypebot, startPath } from "./typebot-api.ts";
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

/** Registers a session with the bot without running its flow. */
async function testBot(
  { outgoing }: IntegrationDeps,
  health: IntegrationHealth,
  integration: Integration,
): Promise<TestReport> {
  const config = typebotConfig.parse(integration.config);
  const tenant = { instance_id: integration.instance_id };
  const beganAt = performance.now();
  const body = { isOnlyRegistering: true, isStreamEnabled: false };
  const outcome = await requestTypebot(outgoing, tenant, config, startPath(config), body);
  const reading = readOutcome(outcome, config);
  const isOk = reading.responseClass.class === "ok";
  const isBot = isOk && parseBotResponse(outcome)?.sessionId !== undefined;
  const message = isBot ? "The bot exists and accepts messages." : isOk ? NOT_A_VIEWER : reading.error;
  await health.noteTest(integration, outcome, beganAt, { ...reading, error: message });
  if (isOk && !isBot) await health.warn(integration, message, { code: "typebot_not_viewer" });
  return {
    success: isBot,
    message,
    status_code: outcome.outcome === "response" ? outcome.status : null,
    duration_ms: Math.round(outcome.durationMs),
    details: { public_id: config.public_id },
  };
}
