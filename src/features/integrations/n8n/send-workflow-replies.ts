import type { JobResult } from "../../../engine/engine.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { recordEvents } from "../../events/events.ts";
import { completeJob } from "../complete-job.ts";
import { readIntegrationChat } from "../integration-chat.ts";
import type { EventWork } from "../integration-provider.ts";
import { findReplyTarget, queueReplies } from "../queue-replies.ts";
import { countReply, isReplyPaused } from "../reply-limit.ts";
import { discardReplies, type ReplyPart, toReplies } from "../to-replies.ts";
import type { N8nConfig } from "./n8n-config.ts";
import type { N8nDeps } from "./n8n-deps.ts";
import {
  parseWorkflowReplies,
  type WorkflowReply,
  type WorkflowResponseBody,
} from "./parse-workflow-replies.ts";

/** Sends the workflow's replies to the chat, in the commit that ends the delivery. */
export async function sendWorkflowReplies(
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
