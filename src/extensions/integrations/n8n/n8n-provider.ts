import { buffer } from "node:stream/consumers";
import { recordEvents } from "../../../core/events/events.ts";
import type { MediaUrls } from "../../../core/media/media.ts";
import type { JobResult } from "../../../engine/engine.ts";
import { phoneOfJid } from "../../../network/jid.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import { completeJob } from "../delivery/complete-job.ts";
import { type FailedRequest, type FailureKind, retryRequest } from "../delivery/retry-request.ts";
import { readIntegrationChat } from "../integration-chat.ts";
import type { EventWork, IntegrationDeps, IntegrationProvider } from "../integration-provider.ts";
import { findReplyTarget, queueReplies } from "../queue-replies.ts";
import { countReply, isReplyPaused } from "../reply-limit.ts";
import { discardReplies, type ReplyPart, toReplies } from "../to-replies.ts";
import { checkWorkflow, type N8nDeps } from "./check-workflow.ts";
import { FileResponseLimit } from "./file-response-limit.ts";
import { N8N_ALIASES, type N8nConfig, n8nConfig } from "./n8n-config.ts";
import {
  parseWorkflowReplies,
  type WorkflowReply,
  type WorkflowResponseBody,
} from "./parse-workflow-replies.ts";
import { readWorkflowResponse } from "./read-workflow-response.ts";
import { requestWorkflow } from "./request-workflow.ts";
import { isResponseLost } from "./workflow-failure.ts";

const LINK_SECONDS = 7 * 86_400;

interface PayloadOptions {
  instanceId: number;
  config: N8nConfig;
  mediaUrls: MediaUrls;
  /** The file itself, in base64. */
  file: string | undefined;
}

/** Each attempt may have run the workflow. */
const MOST_TRIES: Record<FailureKind, number> = { away: Number.POSITIVE_INFINITY, timeouts: 2, failures: 10 };

const GIVE_UP_AFTER_MS = 24 * 3_600_000;

interface WorkflowFailure extends FailedRequest {
  outcome: FetchOutcome;
}

/** In base64 a file grows by a third, and n8n accepts events of 16 MB by default. */
const LARGEST_BYTES = 5 * 1024 * 1024;

/**
 * Workflows of n8n: they receive the events of the instance, and reply through the API or with their HTTP
 * response.
 */
export function createN8nProvider(deps: IntegrationDeps): IntegrationProvider {
  const own = { ...deps, fileResponseLimit: new FileResponseLimit() };
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
    test: (integration) => checkWorkflow(own, integration),
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
    if (!note.failure && outcome.outcome === "response")
      return sendWorkflowReplies(deps, work, config, outcome);
    return endFailed(deps, work, config, { ...note, outcome, isRefusal: reading.isRejected });
  });
}

/** The file of an event in base64, if configured; undefined if it is too large or not available in time. */
async function readInlineFile(
  { openFile }: Pick<IntegrationDeps, "openFile">,
  { data }: EventWork["event"],
  { media }: N8nConfig,
): Promise<string | undefined> {
  const id: string | null | undefined = data.message?.media?.id;
  if (media !== "base64" || !id) return undefined;
  try {
    const { size, read } = await openFile(id);
    return size > LARGEST_BYTES ? undefined : (await buffer(await read())).toString("base64");
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return undefined;
  }
}

/**
 * An event that fails alone lets the other events of its chat pass; while n8n is unreachable, all keep their
 * order.
 */
async function endFailed(
  deps: IntegrationDeps,
  { job, event }: EventWork,
  config: N8nConfig,
  failed: WorkflowFailure,
): Promise<JobResult> {
  const isOver = Date.now() - event.recorded_at.getTime() > GIVE_UP_AFTER_MS;
  if (!config.retry || isOver) return { end: "done" };
  const kind = kindOf(failed, config);
  return retryRequest(deps, job, failed, { kind, maxAttempts: MOST_TRIES[kind], isParked: true });
}

/** A workflow whose response is lost runs again in each attempt, with all its effects. */
function kindOf({ failure, outcome }: WorkflowFailure, config: N8nConfig): FailureKind {
  if (failure?.isDown) return "away";
  return isResponseLost(outcome, config) ? "timeouts" : "failures";
}

/** Sends the workflow's replies to the chat, in the commit that ends the delivery. */
async function sendWorkflowReplies(
  deps: N8nDeps,
  { job, integration, event }: EventWork,
  config: N8nConfig,
  response: WorkflowResponseBody,
): Promise<JobResult> {
  const { health } = deps;
  const { message } = event.data;
  const isReplyable =
    config.reply_mode === "response" && event.event === "message.received" && !message.from_me;
  if (!isReplyable) return { end: "done" };
  const { replies: parsed, problem } = parseWorkflowReplies(response);
  if (problem !== undefined) await health.warn(integration, problem);
  if (parsed.length === 0) return { end: "done" };
  const { jid, phone, lid, chat_type: type } = message;
  const { chat, ...known } = await readIntegrationChat(deps.db, integration, { chat: jid, lid });
  if (isReplyPaused(config, known)) return { end: "done" };
  const route = await findReplyTarget(deps, integration, { jid, phone, lid, type });
  const { replies, failures } = await toReplies(deps, integration.account_id, parsed.map(toPart));
  for (const failure of failures) await health.warn(integration, failure);
  try {
    return await completeJob(deps, job, async (trx) => {
      const { sendHoldMs } = deps;
      const key = `n8n:${event.event_id}`;
      await queueReplies(trx, route, replies, { origin: "chatbot", key, sendHoldMs });
      const paused = await countReply(trx, integration, { jid, phone, lid, type, chat }, config);
      return [route.lane, ...(await recordEvents(trx, paused))];
    });
  } catch (error) {
    await discardReplies(deps.db, replies);
    if (!(error instanceof GatewayError)) throw error;
    await health.warn(integration, error.message);
    return { end: "done" };
  }
}

function toPart({ text, media_url, file }: WorkflowReply): ReplyPart {
  const caption = text === undefined ? {} : { caption: text };
  if (file) return { kind: "media", file, ...caption };
  return media_url === undefined
    ? { kind: "text", text: text ?? "" }
    : { kind: "media", url: media_url, ...caption };
}

/**
 * The body of the event, byte for byte as webhooks receive it, with flat fields added that a workflow can
 * read directly. The same in every attempt, except for the signature of a file's link.
 */
function toWorkflowPayload(event: EventWork["event"], options: PayloadOptions): Buffer {
  const flat = JSON.stringify(flatFields(event, options));
  const end = event.body.lastIndexOf("}");
  return Buffer.concat([event.body.subarray(0, end), Buffer.from(`,${flat.slice(1)}`)]);
}

function flatFields(
  { data, chat, recorded_at }: EventWork["event"],
  { instanceId, config, mediaUrls, file }: PayloadOptions,
) {
  const message = data.message ?? {};
  const jid: string = message.jid ?? data.jid ?? chat;
  const media = config.media === "none" ? undefined : (message.media ?? undefined);
  return {
    chatInput: message.text ?? message.caption ?? data.text ?? "",
    sessionId: `${instanceId}:${jid}`,
    remoteJid: jid,
    number: message.phone ?? phoneOfJid(jid),
    pushName: message.sender?.push_name ?? null,
    messageId: message.message_id ?? data.message_id ?? null,
    messageType: message.type ?? null,
    fromMe: message.from_me ?? false,
    isGroup: message.is_group ?? jid.endsWith("@g.us"),
    origin: message.origin ?? null,
    instanceId,
    quotedMessageId: message.quoted?.id ?? null,
    ...(media?.id && {
      mediaUrl: urlUntil(mediaUrls, media.id, recorded_at),
      mimetype: media.mime_type,
      ...(file !== undefined && { mediaBase64: file }),
    }),
  };
}

function urlUntil(mediaUrls: MediaUrls, mediaId: string, from: Date): string {
  const leftSeconds = LINK_SECONDS - Math.floor((Date.now() - from.getTime()) / 1000);
  return mediaUrls.create(mediaId, Math.max(60, leftSeconds));
}
