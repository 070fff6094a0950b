import { z } from "zod";
import type { JobResult } from "../../../engine/engine.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import type { TestReport } from "../contract.ts";
import { retryRequest } from "../delivery/retry-request.ts";
import { readIntegrationChat } from "../integration-chat.ts";
import type { EventWork, IntegrationDeps, IntegrationProvider, TaskWork } from "../integration-provider.ts";
import type { Integration } from "../integration-row.ts";
import { claimMessageLink, updateMessageLink } from "../message-link.ts";
import { type BotChat, isBefore } from "./bot-chat.ts";
import { createBotClient } from "./bot-client.ts";
import { NOT_A_VIEWER } from "./explain-typebot-response.ts";
import { finishTurn } from "./finish-turn.ts";
import { pauseBotForAgent } from "./pause-bot-for-agent.ts";
import { readOutcome } from "./read-outcome.ts";
import { isBeforeReplyDeadline } from "./reply-deadline.ts";
import { runConversation, type TypebotDeps } from "./run-conversation.ts";
import { parseBotResponse, requestTypebot, startPath } from "./typebot-api.ts";
import { savedTypebotConfig, TYPEBOT_ALIASES, typebotConfig } from "./typebot-config.ts";

const continuation = z.object({
  chat: z.object({
    jid: z.string(),
    phone: z.string().nullable(),
    lid: z.string().nullable(),
    type: z.enum(["contact", "group"]),
  }),
  session_id: z.string(),
  message_id: z.string(),
  hop: z.number(),
});

/** Bots of Typebot: an inbound message starts or continues a flow, and the flow's replies go to the chat. */
export function createTypebotProvider(deps: IntegrationDeps): IntegrationProvider {
  const bot = { ...deps, botClient: createBotClient(deps) };
  return {
    name: "typebot",
    config: typebotConfig,
    aliases: TYPEBOT_ALIASES,
    secrets: ["api_token"],
    address: "base_url",
    wants(config) {
      const { ignore_groups, choices } = savedTypebotConfig.parse(config);
      // Of outbound messages only those of a person: they may take over the chat.
      return {
        events: ["message.received", "message.sent", ...(choices === "poll" ? [ANSWER] : [])],
        exclude: ignore_groups ? ["automatic", "groups"] : ["automatic"],
      };
    },
    test: (integration) => testBot(deps, integration),
    async onEvent(work) {
      if (work.event.event === "message.sent") return pauseBotForAgent(bot, work);
      if (work.event.event !== ANSWER) return runConversation(bot, work);
      // A text that answers arrives as a message too.
      return isVote(work) ? runConversation(bot, asMessage(work)) : { end: "done" };
    },
    onTask: (work) => resumeFlow(bot, work),
  };
}

const ANSWER = "answer.received" as const;

function isVote({ event }: EventWork): boolean {
  return event.data.answer_message_id === null;
}

/** A vote as the text of its option, which the voter could have written instead. */
function asMessage({ event, ...work }: EventWork): EventWork {
  const { message: question, option, contact: sender, at: timestamp } = event.data;
  const message = {
    ...question,
    message_id: `vote:${question.message_id}`,
    direction: "inbound",
    from_me: false,
    origin: "contact",
    text: option.text,
    sender,
    timestamp,
  };
  return { ...work, event: { ...event, data: { message } } };
}

/** Registers a session with the bot without running its flow. */
async function testBot({ outgoing, health }: IntegrationDeps, integration: Integration): Promise<TestReport> {
  const config = typebotConfig.parse(integration.config);
  const tenant = { instance_id: integration.instance_id };
  const beganAt = performance.now();
  const body = { isOnlyRegistering: true, isStreamEnabled: false };
  const outcome = await requestTypebot(outgoing, tenant, config, startPath(config), body);
  const reading = readOutcome(outcome, config);
  const isOk = reading.failure === undefined;
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

/**
 * Continues a flow that does not wait for the user, unless it was stopped or a person took over meanwhile.
 */
async function resumeFlow(deps: TypebotDeps, { job, integration, task }: TaskWork): Promise<JobResult> {
  const { db, botClient, health } = deps;
  const { chat, session_id, message_id, hop } = continuation.parse(task);
  const config = savedTypebotConfig.parse(integration.config);
  const known = await readIntegrationChat<BotChat>(db, integration, { chat: chat.jid, lid: chat.lid });
  const { session, paused_until } = known.state;
  if (session?.session_id !== session_id || isBefore(new Date(), paused_until)) return { end: "done" };
  const { link, isNew } = await claimMessageLink(db, integration, {
    chat: known.chat,
    message_id,
    part: hop,
  });
  if (!isNew) return { end: "done" };
  const result = await botClient.resume(integration, config, session, undefined);
  faultPoint("typebot:after-continue");
  if (result.outcome === "answered") {
    const work = { job, integration };
    return finishTurn(deps, {
      work,
      config,
      known,
      chat,
      session,
      hop,
      response: result.response,
      message_id,
      claim: { link, joined: [] },
    });
  }
  if (result.outcome === "again" && result.isSafe && isBeforeReplyDeadline(result.failed, link.created_at)) {
    await updateMessageLink(db, link.id, { status: "waiting" });
    return retryRequest(deps, job, result.failed);
  }
  await updateMessageLink(db, link.id, { status: result.outcome === "unknown" ? "unknown" : "failed" });
  await health.warn(
    integration,
    "The flow could not continue by itself. It continues with the next message.",
  );
  return { end: "done" };
}
