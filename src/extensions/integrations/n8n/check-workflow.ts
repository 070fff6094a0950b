import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import { ulid } from "../../../platform/ulid.ts";
import type { TestReport } from "../contract.ts";
import type { IntegrationDeps } from "../integration-provider.ts";
import type { Integration } from "../integration-row.ts";
import type { FileResponseLimit } from "./file-response-limit.ts";
import { type N8nConfig, n8nConfig } from "./n8n-config.ts";
import { parseWorkflowReplies } from "./parse-workflow-replies.ts";
import { readWorkflowResponse } from "./read-workflow-response.ts";
import { requestWorkflow } from "./request-workflow.ts";

export interface N8nDeps extends IntegrationDeps {
  fileResponseLimit: FileResponseLimit;
}

const SHOWN = 300;

/** Starts the workflow once with an event that is marked as a test. */
export async function checkWorkflow(deps: N8nDeps, integration: Integration): Promise<TestReport> {
  const config = n8nConfig.parse(integration.config);
  const event_id = `evt_${ulid()}`;
  const event = "integration.test";
  const body = Buffer.from(JSON.stringify(testBody(integration.instance_id, event, event_id)));
  return deps.fileResponseLimit.use(async (acquireFileSlot) => {
    const beganAt = performance.now();
    const outcome = await requestWorkflow(deps, integration, config, {
      event,
      event_id,
      attempt: 1,
      body,
      acquireFileSlot,
    });
    const reading = readWorkflowResponse(outcome, config);
    await deps.health.noteTest(integration, outcome, beganAt, reading);
    const success = reading.failure === undefined;
    const { message = reading.error, ...shown } = success ? describeTestResponse(outcome, config) : {};
    return {
      success,
      message,
      status_code: outcome.outcome === "response" ? outcome.status : null,
      duration_ms: Math.round(outcome.durationMs),
      details: { event_id, ...shown },
    };
  });
}

/** The response, and what the gateway would send of it. */
function describeTestResponse(outcome: FetchOutcome, { reply_mode }: N8nConfig) {
  if (outcome.outcome !== "response") return {};
  const type = outcome.headers["content-type"];
  const { replies, problem } = parseWorkflowReplies(outcome);
  const shown = {
    ...(type !== undefined && { content_type: type.slice(0, 100) }),
    answer: replies.some(({ file }) => file)
      ? `${outcome.body.length} bytes`
      : outcome.body.toString("utf8").slice(0, SHOWN),
  };
  if (reply_mode === "none") return shown;
  const would_send = replies.map(({ file, ...reply }) => ({
    ...reply,
    ...(file && { file: { mime_type: file.mime_type, size: file.bytes.length } }),
  }));
  const summary = problem ?? `Its response contains ${replies.length} message(s) for the chat.`;
  return { ...shown, would_send, message: `The workflow accepted the event. ${summary}` };
}

/** A test message: it has every flat field, and names no chat that could get a reply. */
function testBody(instanceId: number, event: string, event_id: string) {
  return {
    event_id,
    event,
    instance_id: `inst_${instanceId}`,
    timestamp: new Date().toISOString(),
    source: "Waygate",
    version: "2",
    data: { test: true },
    chatInput: "This is a test.",
    sessionId: `${instanceId}:test`,
    remoteJid: null,
    number: null,
    pushName: null,
    messageId: null,
    messageType: "text",
    origin: null,
    quotedMessageId: null,
    fromMe: false,
    isGroup: false,
    instanceId,
    test: true,
  };
}
