import { z } from "zod";
import type { JobResult } from "../../../engine/engine.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import { readIntegrationChat } from "../integration-chat.ts";
import type { TaskWork } from "../integration-provider.ts";
import { claimMessageLink, updateMessageLink } from "../message-link.ts";
import { retryRequest } from "../retry-request.ts";
import { type BotChat, isBefore } from "./bot-chat.ts";
import { finishTurn } from "./finish-turn.ts";
import { isBeforeReplyDeadline } from "./reply-deadline.ts";
import type { TypebotDeps } from "./run-conversation.ts";
import { savedTypebotConfig } from "./typebot-config.ts";

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

/**
 * Continues a flow that does not wait for the user, unless it was stopped or a person took over meanwhile.
 */
export async function resumeFlow(
  deps: TypebotDeps,
  { job, integration, task }: TaskWork,
): Promise<JobResult> {
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
