import { recordEvents } from "../../../core/events/events.ts";
import type { JobResult } from "../../../engine/engine.ts";
import { addJobs } from "../../../engine/job-store.ts";
import type { Trx } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { completeJob, createTaskJob } from "../delivery/complete-job.ts";
import type { IntegrationChat } from "../integration-chat.ts";
import { saveIntegrationChat } from "../integration-chat.ts";
import type { EventWork, IntegrationDeps } from "../integration-provider.ts";
import { updateMessageLink } from "../message-link.ts";
import { findReplyTarget, queueReplies, type ReplyChat } from "../queue-replies.ts";
import { countReply, type ReplyLimit } from "../reply-limit.ts";
import { discardReplies, type ReplyPart, toReplies } from "../to-replies.ts";
import { type BotChat, type BotSession, botIdOf, inMinutes } from "./bot-chat.ts";
import { type BotTurn, toBotTurn } from "./bot-turn.ts";
import { type Claim, endJoined } from "./claim-turn.ts";
import type { TypebotResponse } from "./typebot-api.ts";
import type { TypebotConfig } from "./typebot-config.ts";

/** The chat and the job of a reply. */
export interface TurnContext {
  work: Pick<EventWork, "job" | "integration">;
  /** The stored state of the chat so far. */
  known: IntegrationChat<BotChat>;
  chat: ReplyChat;
}

/** The result of a job: its replies, and the new state of the chat. */
export interface TurnOutcome {
  parts: readonly ReplyPart[];
  state: Partial<BotChat>;
  /** It replies to a user, and counts as one automatic reply. */
  limit?: ReplyLimit | undefined;
}

/** Ends the job, records its replies and its state, and runs `also`, in one commit. `also` returns the lanes it changed. */
export async function commitTurn(
  deps: IntegrationDeps,
  { work: { job, integration }, known, chat }: TurnContext,
  { parts, state, limit }: TurnOutcome,
  also: (trx: Trx) => Promise<number[]> = async () => [],
): Promise<JobResult> {
  const { db, sendHoldMs, health } = deps;
  const route = await findReplyTarget(deps, integration, chat);
  const { replies, failures } = await toReplies(deps, integration.account_id, parts);
  for (const failure of failures) await health.warn(integration, failure);
  const key = `typebot:${integration.id}:${job.id}`;
  const commit = async (queued: typeof replies) => {
    let changed: number[] = [];
    const end = await completeJob(deps, job, async (trx) => {
      changed = await also(trx);
      await saveIntegrationChat(trx, integration, { ...known, state });
      await queueReplies(trx, route, queued, { origin: "chatbot", key, sendHoldMs });
      const paused =
        limit && queued.length > 0
          ? await countReply(trx, integration, { ...chat, chat: known.chat }, limit)
          : [];
      return [integration.lane, route.lane, ...(await recordEvents(trx, paused))];
    });
    deps.engine.wake(changed, { changed: true });
    return end;
  };
  try {
    return await commit(replies);
  } catch (error) {
    await discardReplies(db, replies);
    if (!(error instanceof GatewayError)) throw error;
    // The flow has advanced, so this reply is lost, but its new position must be stored.
    await health.warn(integration, error.message);
    return commit([]);
  }
}

/** A response of the bot, and the message that it belongs to. */
export interface FinishTurnInput extends TurnContext {
  config: TypebotConfig;
  /** The continued session; absent: this response began it. */
  session: BotSession | undefined;
  response: TypebotResponse;
  /** How many requests without a message the bot has received since the user's last message. */
  hop: number;
  message_id: string;
  claim: Pick<Claim, "link" | "joined">;
}

const MOST_HOPS = 20;

/** Sends the bot's replies, and stores the new position in the flow. */
export async function finishTurn(deps: IntegrationDeps, input: FinishTurnInput): Promise<JobResult> {
  const { response, config, known, hop, work, claim } = input;
  const now = new Date();
  const turn = toBotTurn(
    response,
    config,
    response.typebot?.settings?.typingEmulation ?? input.session?.typing,
  );
  for (const warning of turn.warnings) await deps.health.warn(work.integration, warning);
  const isLoop = turn.continueAfterMs !== undefined && hop >= MOST_HOPS;
  if (isLoop)
    await deps.health.warn(
      work.integration,
      "The flow repeats itself without waiting for a reply, so it was stopped. Check its blocks for a loop.",
    );
  const session = turn.isOver ? undefined : sessionAfter(input, turn, now);
  const state = {
    ...known.state,
    session,
    ...(turn.isOver &&
      config.on_end === "keep_closed" && {
        closed_until: inMinutes(now, config.keep_closed_for_minutes),
      }),
  };
  const limit = hop === 0 ? config : undefined;
  return commitTurn(deps, input, { parts: turn.parts, state, limit }, async (trx) => {
    await updateMessageLink(trx, claim.link.id, {
      status: "done",
      provider_conversation_id: session?.session_id ?? null,
    });
    if (session && turn.continueAfterMs !== undefined && !isLoop)
      await addContinuation(trx, input, session, turn.continueAfterMs);
    return endJoined(trx, work.integration, known.chat, claim.joined);
  });
}

function sessionAfter(
  { response, config, session }: FinishTurnInput,
  { isListening }: BotTurn,
  now: Date,
): BotSession | undefined {
  const session_id = response.sessionId ?? session?.session_id;
  if (session_id === undefined) return undefined;
  return {
    session_id,
    bot: botIdOf(config),
    at: now.toISOString(),
    is_listening: isListening,
    input: response.input,
    typing: response.typebot?.settings?.typingEmulation ?? session?.typing,
  };
}

/** The arguments of the job that continues a flow without the user. */
export interface Continuation {
  chat: ReplyChat;
  session_id: string;
  message_id: string;
  hop: number;
}

/** Runs before anything that the user writes meanwhile. */
async function addContinuation(
  trx: Trx,
  { work, chat, hop, message_id, known }: FinishTurnInput,
  { session_id }: BotSession,
  afterMs: number,
): Promise<void> {
  const task: Continuation = { chat, session_id, message_id, hop: hop + 1 };
  const run_at = new Date(Date.now() + afterMs);
  const options = { grp: known.chat, pos: work.job.pos, first: true, run_at };
  await addJobs(trx, [createTaskJob(work.integration, { ...task }, options)]);
}
