import type { JobResult } from "../../../engine/engine.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import { createIntegrationHealth } from "../integration-health.ts";
import type { EventWork, IntegrationDeps, IntegrationProvider } from "../integration-provider.ts";
import { endFailed } from "./end-failed.ts";
import { FileResponseLimit } from "./file-response-limit.ts";
import { N8N_ALIASES, type N8nConfig, n8nConfig } from "./n8n-config.ts";
import type { N8nDeps } from "./n8n-deps.ts";
import { readInlineFile } from "./read-inline-file.ts";
import { readWorkflowResponse } from "./read-workflow-response.ts";
import { requestWorkflow } from "./request-workflow.ts";
import { sendWorkflowReplies } from "./send-workflow-replies.ts";
import { testWorkflow } from "./test-workflow.ts";
import { toWorkflowPayload } from "./to-workflow-payload.ts";

/**
 * Workflows of n8n: they receive the events of the instance, and reply through the API or with their HTTP
 * response.
 */
export function createN8nProvider(deps: IntegrationDeps): IntegrationProvider {
  const own = { ...deps, health: createIntegrationHealth(deps), fileResponseLimit: new FileResponseLimit() };
  return {
    name: "n8n",
    config: n8nConfig,
    aliases: N8N_ALIASES,
    secrets: ["token"],
    address: "webhook_url",
    wants(config) {
      const { events, include_from_me, include_groups } = n8nConfig.parse(config);
      const all =
        include_from_me && !events.includes("message.sent") ? [...events, "message.sent" as const] : events;
      return { events: all, exclude: include_groups ? [] : ["groups"] };
    },
    async prepare({ config }) {
      return { warnings: warningsOf(n8nConfig.parse(config)) };
    },
    test: (integration) => testWorkflow(own, integration),
    onEvent: (work) => runDelivery(own, work),
  };
}

function warningsOf({ webhook_url, token }: N8nConfig): string[] {
  const isTest = new URL(webhook_url).pathname.includes("/webhook-test/");
  return [
    ...(isTest
      ? [
          "This is the test address: it accepts one request while the editor listens. Use the production URL (/webhook/).",
        ]
      : []),
    ...(token === undefined
      ? [
          "Without a token, everyone who knows the address can start the workflow; verify the signature in it.",
        ]
      : []),
  ];
}

async function runDelivery(deps: N8nDeps, work: EventWork): Promise<JobResult> {
  const { job, integration, event } = work;
  const config = n8nConfig.parse(integration.config);
  const message = event.data.message;
  if (message?.unsupported) return { end: "done" };
  if (message?.from_me && !config.include_from_me && !config.events.includes("message.sent"))
    return { end: "done" };
  const { instance_id: instanceId } = integration;
  const file = await readInlineFile(deps, event, config);
  return deps.fileResponseLimit.use(async (acquireFileSlot) => {
    const beganAt = performance.now();
    const outcome = await requestWorkflow(deps, integration, config, {
      event: event.event,
      event_id: event.event_id,
      attempt: job.attempts + 1,
      acquireFileSlot,
      body: toWorkflowPayload(event, { instanceId, config, mediaUrls: deps.mediaUrls, file }),
    });
    faultPoint("n8n:after-response");
    const reading = readWorkflowResponse(outcome, config);
    const note = await deps.health.recordResponse(integration, outcome, beganAt, reading);
    if (note.responseClass.class === "ok" && outcome.outcome === "response")
      return sendWorkflowReplies(deps, work, config, outcome);
    return endFailed(deps, work, config, { ...note, outcome, isRefusal: reading.isRejected });
  });
}
