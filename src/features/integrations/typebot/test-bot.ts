import type { TestReport } from "../contract.ts";
import type { IntegrationHealth } from "../integration-health.ts";
import type { IntegrationDeps } from "../integration-provider.ts";
import type { Integration } from "../integration-row.ts";
import { NOT_A_VIEWER } from "./explain-typebot-response.ts";
import { readOutcome } from "./read-outcome.ts";
import { parseBotResponse, requestTypebot, startPath } from "./typebot-api.ts";
import { typebotConfig } from "./typebot-config.ts";

/** Registers a session with the bot without running its flow. */
export async function testBot(
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
