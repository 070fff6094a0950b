import { deliveryHeaders, readInstanceSecrets } from "../../../core/webhooks/webhooks.ts";
import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import { ulid } from "../../../platform/ulid.ts";
import type { IntegrationDeps } from "../integration-provider.ts";
import type { Integration } from "../integration-row.ts";
import { FileResponseLimit } from "./file-response-limit.ts";
import { authHeader, type N8nConfig } from "./n8n-config.ts";
import { isFileType } from "./parse-workflow-replies.ts";

export interface WorkflowRequest {
  event: string;
  /** The same in every attempt, so that a workflow can deduplicate. */
  event_id: string;
  /** From 1. */
  attempt: number;
  body: Buffer;
  /** Resolves as soon as a file in the response may be read. */
  acquireFileSlot(): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** A workflow that replies may wait for a language model first. */
const RESPONSE_TIMEOUT_MS = 60_000;
const READ_AT_MOST_BYTES = 256 * 1024;

type Headers = Readonly<Record<string, string>>;

/** The size limit of a response. */
export function maxResponseBytes(headers: Headers, config: N8nConfig): number {
  return isFileResponse(headers, config) ? FileResponseLimit.largestBytes : READ_AT_MOST_BYTES;
}

function isFileResponse({ "content-type": type }: Headers, { reply_mode }: N8nConfig): boolean {
  return reply_mode === "response" && isFileType(type);
}

/** Posts once to the webhook of a workflow, with the token, and signed with the instance's secret. */
export async function requestWorkflow(
  { db, box, outgoing, version }: IntegrationDeps,
  { instance_id }: Pick<Integration, "instance_id">,
  config: N8nConfig,
  { event, event_id, attempt, body, acquireFileSlot }: WorkflowRequest,
): Promise<FetchOutcome> {
  const secrets = await readInstanceSecrets(db, box, instance_id);
  const at = new Date();
  const contentType = "application/json; charset=utf-8";
  const delivery = { event: { event_id, event, instance_id }, body, contentType, attempt };
  return outgoing.fetch({
    url: config.webhook_url,
    method: "POST",
    headers: {
      ...deliveryHeaders(delivery, secrets, `dlv_${ulid(at)}`, at),
      // A plain name: n8n can be set to reject those of bots.
      "user-agent": `Waygate-Webhooks/${version}`,
      ...authHeader(config),
    },
    body,
    totalMs:
      config.timeout_ms ?? (config.reply_mode === "response" ? RESPONSE_TIMEOUT_MS : DEFAULT_TIMEOUT_MS),
    maxBytes: READ_AT_MOST_BYTES,
    maxBytesFor: async (headers) => {
      if (isFileResponse(headers, config)) await acquireFileSlot();
      return maxResponseBytes(headers, config);
    },
    tenant: { instance_id },
    isPaced: true,
  });
}
