import { ulid } from "../../../platform/ulid.ts";
import type { TestReport } from "../contract.ts";
import { judgeCall } from "../error-policy.ts";
import type { Health } from "../health.ts";
import type { Integration } from "../integration-row.ts";
import type { IntegrationDeps } from "../provider.ts";
import { n8nConfig } from "./config.ts";
import { deliver } from "./deliver.ts";
import { explain, isNotActive } from "./explain.ts";

/** Starts the workflow once with an event that says it is a test. */
export async function testWorkflow(
  deps: IntegrationDeps,
  health: Health,
  integration: Integration,
): Promise<TestReport> {
  const config = n8nConfig.parse(integration.config);
  const event_id = `evt_${ulid()}`;
  const event = "integration.test";
  const body = Buffer.from(JSON.stringify(testBody(integration.instance_id, event, event_id)));
  const beganAt = performance.now();
  const outcome = await deliver(deps, integration, config, { event, event_id, attempt: 1, body });
  const message = explain(outcome, config);
  const status = isNotActive(outcome) ? "inactive" : undefined;
  await health.note(integration, outcome, beganAt, { status, error: message });
  return {
    success: judgeCall(outcome).verdict === "ok",
    message,
    status_code: outcome.outcome === "response" ? outcome.status : null,
    duration_ms: Math.round(outcome.durationMs),
    details: { event_id },
  };
}

function testBody(instanceId: number, event: string, event_id: string) {
  return {
    ...{ event_id, event, instance_id: `inst_${instanceId}` },
    ...{ timestamp: new Date().toISOString(), source: "Waygate", version: "2", data: { test: true } },
    ...{
      chatInput: "",
      sessionId: `${instanceId}:test`,
      fromMe: false,
      isGroup: false,
      instanceId,
      test: true,
    },
  };
}
