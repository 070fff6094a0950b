import type { JobResult } from "../../../engine/engine.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import { retryRequest } from "../delivery/retry-request.ts";
import { readIntegrationChat } from "../integration-chat.ts";
import type { EventWork, IntegrationDeps } from "../integration-provider.ts";
import { isOnIgnoreList } from "../is-on-ignore-list.ts";
import { type MessageLink, updateMessageLink } from "../message-link.ts";
import { isReplyPaused } from "../reply-limit.ts";
import { type BotChat, type BotSession, currentSession, isBefore } from "./bot-chat.ts";
import type { BotClient, BotClientResult } from "./bot-client.ts";
import { findTriggerProblem, isKeyword, isTrigger } from "./bot-trigger.ts";
import { type Claim, claimJoined, claimTurn, endJoined, releaseTurn } from "./claim-turn.ts";
import { commitTurn, finishTurn, type TurnContext, type TurnOutcome } from "./finish-turn.ts";
import { collectMessages, type Joined } from "./input/collect-messages.ts";
import { isClip, readUserInput, type UserInput } from "./input/read-user-input.ts";
import { acceptsTogether, toBotInput } from "./input/to-bot-input.ts";
import { toPrompt } from "./input/to-prompt.ts";
import { discardBotReplies } from "./pause-bot-for-agent.ts";
import { isBeforeReplyDeadline } from "./reply-deadline.ts";
import type { BotInput, BotMessage } from "./typebot-api.ts";
import { savedTypebotConfig, type TypebotConfig } from "./typebot-config.ts";

export interface TypebotDeps extends IntegrationDeps {
  botClient: BotClient;
}

/** A user's message, and all data that decides how to handle it. */
interface ConversationContext extends TurnContext {
  work: EventWork;
  config: TypebotConfig;
  input: UserInput;
  /** The session to continue; absent: a new one starts. */
  session: BotSession | undefined;
  /** Messages written right after it, whose content is part of `input`. */
  joined: readonly Joined[];
}

/** The limit of Typebot's own WhatsApp integration. */
const OLD_MS = 3 * 60_000;
/** Phones send the files of an album one after the other, with at most this gap. */
const ALBUM_QUIET_MS = 3_000;
/** Marks a message whose start may have run the first steps of a flow: it is repeated once. */
const UNKNOWN_START = "start of unknown outcome";

/** Handles a received message: it starts a bot, continues its flow, or is ignored. */
export async function runConversation(deps: TypebotDeps, work: EventWork): Promise<JobResult> {
  const config = savedTypebotConfig.parse(work.integration.config);
  const { message } = work.event.data;
  const input = readUserInput(deps, message);
  if (!input || isIgnored(config, message)) return { end: "done" };
  const { chat, lid } = { chat: message.jid as string, lid: message.lid as string | null };
  const known = await readIntegrationChat<BotChat>(deps.db, work.integration, { chat, lid });
  const now = new Date();
  if (isBefore(now, known.state.paused_until) || isReplyPaused(config, known)) return { end: "done" };
  const session = currentSession(known.state, config, now);
  const context = {
    work,
    config,
    input,
    session,
    known,
    chat: toChat(message),
    joined: [],
  };
  if (isKeyword(config.stop_keywords, input.text)) return stop(deps, context);
  if (isKeyword(config.restart_keywords, input.text))
    return isOld(work) ? { end: "done" } : requestBot(deps, { ...context, session: undefined }, undefined);
  if (!session && !mayStart(context, now)) {
    await warnOfTrigger(deps, work, config);
    return { end: "done" };
  }
  return collect(deps, context);
}

function toChat({ jid, phone, lid, chat_type: type }: EventWork["event"]["data"]): TurnContext["chat"] {
  return { jid, phone, lid, type };
}

function isIgnored(
  { ignore_groups, ignore_jids }: TypebotConfig,
  { from_me, is_group, type, ...chat }: EventWork["event"]["data"],
): boolean {
  if (from_me || (is_group && ignore_groups) || type === "unsupported") return true;
  return isOnIgnoreList(ignore_jids, chat);
}

/** The message was delayed before it reached the gateway. */
function isOld({ event: { data, recorded_at } }: EventWork): boolean {
  return data.offline === true || recorded_at.getTime() - Date.parse(data.message.timestamp) > OLD_MS;
}

function mayStart({ work, known, config, input }: ConversationContext, now: Date): boolean {
  return !isOld(work) && !isBefore(now, known.state.closed_until) && isTrigger(config, input.text);
}

/** Warns once that a saved expression cannot start the bot. */
async function warnOfTrigger(
  { health }: TypebotDeps,
  { integration }: EventWork,
  config: TypebotConfig,
): Promise<void> {
  const refusal = findTriggerProblem(config);
  const error = `trigger_value ${refusal}. The bot starts by no message until it is changed.`;
  if (refusal !== undefined && integration.last_error !== error) await health.warn(integration, error);
}

/** Stops the bot, which sends its goodbye if it was active. */
async function stop(
  deps: TypebotDeps,
  { work, config, session, known, chat }: ConversationContext,
): Promise<JobResult> {
  const parts =
    session && config.goodbye_message !== "" ? [{ kind: "text" as const, text: config.goodbye_message }] : [];
  return commitTurn(
    deps,
    { work, known, chat },
    { parts, state: { ...known.state, session: undefined } },
    (trx) => discardBotReplies(trx, work.integration.instance_id, chat.jid),
  );
}

/** Waits for more messages if they can be joined, and decides what the bot receives. */
async function collect(deps: TypebotDeps, context: ConversationContext): Promise<JobResult> {
  const { work, config, input, session } = context;
  if (session?.is_listening) return { end: "done" };
  const gathered = await collectMessages(deps, work, input, {
    quietMs: debounceMsOf(config, session?.input, input),
    isJoined: (first, next) => acceptsTogether(session?.input, first, next),
  });
  if ("waitUntil" in gathered) return { end: "retry", at: gathered.waitUntil };
  const all = { ...context, ...gathered };
  const decision = toBotInput(session?.input, all.input);
  if (decision.do === "ignore") return { end: "done" };
  if (decision.do === "send") return requestBot(deps, all, decision.message);
  return refuse(deps, all, decision.why);
}

/** The quiet time before the bot is asked; an album goes as one, voice notes go alone. */
function debounceMsOf(
  { debounce_ms }: TypebotConfig,
  input: BotInput | undefined,
  userInput: UserInput,
): number {
  if (!acceptsTogether(input, userInput, userInput)) return 0;
  const mayBeAlbum = userInput.kind === "file" && userInput.files.some((file) => !isClip(file));
  return mayBeAlbum ? Math.max(debounce_ms, ALBUM_QUIET_MS) : debounce_ms;
}

/** Replies in place of the bot, which could not use the input. */
async function refuse(
  deps: TypebotDeps,
  context: ConversationContext,
  why: "unsupported" | "invalid",
): Promise<JobResult> {
  const { config, known, session } = context;
  // A file cannot start a bot, but its sender can.
  if (!session) return requestBot(deps, context, undefined);
  const parts =
    why === "invalid" && session.input
      ? toPrompt(session.input)
      : [{ kind: "text" as const, text: config.unsupported_message }];
  return endTogether(deps, context, { parts, state: known.state, limit: config });
}

/** Ends a message together with its joined messages. */
function endTogether(
  deps: TypebotDeps,
  context: ConversationContext,
  outcome: TurnOutcome,
  claimed?: { link: MessageLink; status: MessageLink["status"] },
): Promise<JobResult> {
  const { work, known, joined } = context;
  return commitTurn(deps, context, outcome, async (trx) => {
    if (claimed) await updateMessageLink(trx, claimed.link.id, { status: claimed.status });
    return endJoined(trx, work.integration, known.chat, joined);
  });
}

/** Asks the bot once: the claim is stored before, so that the request is not repeated after a crash. */
async function requestBot(
  deps: TypebotDeps,
  context: ConversationContext,
  message: BotMessage | undefined,
): Promise<JobResult> {
  const { work, session, known, joined } = context;
  const { integration, event } = work;
  const key = { chat: known.chat, message_id: event.data.message.message_id as string };
  const claim = await claimTurn(deps.db, integration, key, joined);
  const { link } = claim;
  if (!claim.isNew && link.status !== "claimed") return { end: "done" };
  if (!claim.isNew) {
    // A process that died during a start has left an unused session.
    if (session || link.error === UNKNOWN_START)
      return leaveUnknown(deps, { ...context, joined: claim.joined }, link);
    await claimJoined(deps.db, integration, key, joined);
    link.error = UNKNOWN_START;
    await updateMessageLink(deps.db, link.id, { error: UNKNOWN_START });
  }
  const result = await requestReply(deps, context, message);
  faultPoint("typebot:after-response");
  return conclude(deps, context, { ...claim, joined }, result);
}

/** A session that the bot no longer knows starts again, once, with the same text. */
async function requestReply(
  deps: TypebotDeps,
  context: ConversationContext,
  message: BotMessage | undefined,
): Promise<BotClientResult> {
  const { work, config, session, input } = context;
  const { integration } = work;
  if (session) {
    const result = await deps.botClient.resume(integration, config, session, message);
    if (result.outcome !== "forgotten") return result;
  }
  const first: BotMessage | undefined = message && input.text ? { type: "text", text: input.text } : message;
  const variables = await prefilledVariables(deps, work, config, input.text);
  return deps.botClient.start(integration, config, { message: first, variables });
}

async function conclude(
  deps: TypebotDeps,
  context: ConversationContext,
  claim: Claim,
  result: BotClientResult,
): Promise<JobResult> {
  const { work, session, config, known } = context;
  const { link } = claim;
  switch (result.outcome) {
    case "answered": {
      const { message_id } = work.event.data.message;
      const turn = { response: result.response, hop: 0, message_id };
      return finishTurn(deps, { ...context, ...turn, session, config, known, claim });
    }
    case "again":
      return tryAgain(deps, context, claim, result);
    case "unknown":
      return leaveUnknown(deps, context, link);
    default: {
      const remaining = result.outcome === "refused" && result.isSessionOpen ? session : undefined;
      const state = { ...known.state, session: remaining };
      return endTogether(deps, context, { parts: [], state }, { link, status: "failed" });
    }
  }
}

async function tryAgain(
  deps: TypebotDeps,
  context: ConversationContext,
  claim: Claim,
  { isSafe, failed }: Extract<BotClientResult, { outcome: "again" }>,
): Promise<JobResult> {
  const { work, known } = context;
  const { link } = claim;
  const isSpent = !isSafe && link.error === UNKNOWN_START;
  if (isSpent || !isBeforeReplyDeadline(failed, work.event.recorded_at))
    return endTogether(deps, context, { parts: [], state: known.state }, { link, status: "failed" });
  await releaseTurn(deps.db, work.integration, claim, isSafe ? {} : { error: UNKNOWN_START });
  return retryRequest(deps, work.job, failed);
}

/**
 * The flow may have advanced, so nothing is repeated; its current input is unknown until its next response.
 */
async function leaveUnknown(
  deps: TypebotDeps,
  context: ConversationContext,
  link: MessageLink,
): Promise<JobResult> {
  const { known, session, work } = context;
  await deps.health.warn(
    work.integration,
    "The bot's response was lost, so it may not have received a message. The flow continues with the next message.",
  );
  const state = { ...known.state, ...(session && { session: { ...session, input: undefined } }) };
  return endTogether(deps, context, { parts: [], state }, { link, status: "unknown" });
}

/** Variables that a flow gets at its start, if it declares these names. */
async function prefilledVariables(
  { db, baseUrl }: Pick<IntegrationDeps, "db" | "baseUrl">,
  { integration, event }: EventWork,
  { variables }: TypebotConfig,
  text: string,
): Promise<Record<string, unknown>> {
  const { message } = event.data;
  const { name, jid } = await db
    .selectFrom("instance")
    .select(["name", "jid"])
    .where("id", "=", integration.instance_id)
    .executeTakeFirstOrThrow();
  return {
    remoteJid: message.jid,
    phone: message.phone ?? "",
    pushName: message.sender?.push_name ?? "",
    instanceId: integration.instance_id,
    instanceName: name,
    ownerJid: jid ?? "",
    serverUrl: baseUrl,
    messageType: message.type,
    messageId: message.message_id,
    firstMessage: text,
    isGroup: message.is_group,
    ...variables,
  };
}
