import type { JobEnd } from "../../../engine/engine.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import { readChat } from "../chat-state.ts";
import type { Health } from "../health.ts";
import { isListed } from "../ignored-people.ts";
import { type Link, setLink } from "../links.ts";
import type { EventWork, IntegrationDeps } from "../provider.ts";
import { isReplyPaused } from "../reply-limit.ts";
import { retryCall } from "../retry-call.ts";
import { takesTogether, toAnswer } from "./answer.ts";
import type { Asked, BotCaller } from "./ask-bot.ts";
import { type BotChat, type BotSession, isBefore, openSession } from "./bot-chat.ts";
import { type Claim, claimJoined, claimTurn, endJoined, releaseTurn } from "./claim-turn.ts";
import { savedTypebotConfig, type TypebotConfig } from "./config.ts";
import { type Ending, endTurn, type Speaker, speak } from "./end-turn.ts";
import { gatherSaid, type Joined } from "./gather-said.ts";
import { isWorthWaiting } from "./give-up.ts";
import { isKeyword, isTrigger, refusalOfTrigger } from "./keywords.ts";
import { toPrompt } from "./prompts.ts";
import { isClip, readSaid, type Said } from "./read-said.ts";
import { stopBot } from "./take-over.ts";
import type { BotInput, BotMessage } from "./typebot-api.ts";
import { variablesOf } from "./variables.ts";

export interface BotDeps extends IntegrationDeps {
  health: Health;
  bots: BotCaller;
}

/** What somebody has said, and all that decides what becomes of it. */
interface Hearing extends Speaker {
  work: EventWork;
  config: TypebotConfig;
  said: Said;
  /** The session that goes on with it; absent: a new one starts. */
  session: BotSession | undefined;
  /** Said right after it, and part of `said`. */
  joined: readonly Joined[];
}

/** As Typebot's own bridge to WhatsApp has it. */
const OLD_MS = 3 * 60_000;
/** Phones send the files of an album one after the other, at most so far apart. */
const ALBUM_QUIET_MS = 3_000;
/** Marks the message whose start may have run the first steps of a flow: it is repeated once. */
const UNKNOWN_START = "start of unknown outcome";

/** A message that was received: it starts a bot or goes on with it, or it is none of the bot's business. */
export async function converse(deps: BotDeps, work: EventWork): Promise<JobEnd> {
  const config = savedTypebotConfig.parse(work.integration.config);
  const { message } = work.event.data;
  const said = readSaid(deps, message);
  if (!said || isIgnored(config, message)) return { end: "done" };
  const { chat, lid } = { chat: message.jid as string, lid: message.lid as string | null };
  const known = await readChat<BotChat>(deps.db, work.integration, { chat, lid });
  const now = new Date();
  if (isBefore(now, known.state.paused_until) || isReplyPaused(config, known)) return { end: "done" };
  const session = openSession(known.state, config, now);
  const hearing = {
    work,
    config,
    said,
    session,
    known,
    chat: toChat(message),
    joined: [],
  };
  if (isKeyword(config.stop_keywords, said.text)) return stop(deps, hearing);
  if (isKeyword(config.restart_keywords, said.text))
    return isOld(work) ? { end: "done" } : take(deps, { ...hearing, session: undefined }, undefined);
  if (!session && !mayStart(hearing, now)) {
    await warnOfTrigger(deps, work, config);
    return { end: "done" };
  }
  return listen(deps, hearing);
}

function toChat({ jid, phone, lid, chat_type: type }: EventWork["event"]["data"]): Speaker["chat"] {
  return { jid, phone, lid, type };
}

function isIgnored(
  { ignore_groups, ignore_jids }: TypebotConfig,
  { from_me, is_group, type, ...chat }: EventWork["event"]["data"],
): boolean {
  if (from_me || (is_group && ignore_groups) || type === "unreadable") return true;
  return isListed(ignore_jids, chat);
}

/** It waited somewhere before it came to us. */
function isOld({ event: { data, recorded_at } }: EventWork): boolean {
  return data.offline === true || recorded_at.getTime() - Date.parse(data.message.timestamp) > OLD_MS;
}

function mayStart({ work, known, config, said }: Hearing, now: Date): boolean {
  return !isOld(work) && !isBefore(now, known.state.closed_until) && isTrigger(config, said.text);
}

/** Says once that a saved expression cannot start the bot. */
async function warnOfTrigger(
  { health }: BotDeps,
  { integration }: EventWork,
  config: TypebotConfig,
): Promise<void> {
  const refusal = refusalOfTrigger(config);
  const error = `trigger_value ${refusal}. The bot starts by no message until it is changed.`;
  if (refusal !== undefined && integration.last_error !== error) await health.warn(integration, error);
}

/** The bot goes, and says goodbye where it was there. */
async function stop(deps: BotDeps, { work, config, session, known, chat }: Hearing): Promise<JobEnd> {
  const parts =
    session && config.goodbye_message !== "" ? [{ kind: "text" as const, text: config.goodbye_message }] : [];
  return speak(deps, { work, known, chat }, { parts, state: { ...known.state, session: undefined } }, (trx) =>
    stopBot(trx, work.integration.instance_id, chat.jid),
  );
}

/** Waits for more words where they are joined, and decides what the bot hears. */
async function listen(deps: BotDeps, hearing: Hearing): Promise<JobEnd> {
  const { work, config, said, session } = hearing;
  if (session?.is_listening) return { end: "done" };
  const gathered = await gatherSaid(deps, work, said, {
    quietMs: quietMsOf(config, session?.input, said),
    isJoined: (first, next) => takesTogether(session?.input, first, next),
  });
  if ("waitUntil" in gathered) return { end: "retry", at: gathered.waitUntil };
  const all = { ...hearing, ...gathered };
  const answer = toAnswer(session?.input, all.said);
  if (answer.do === "ignore") return { end: "done" };
  if (answer.do === "send") return take(deps, all, answer.message);
  return refuse(deps, all, answer.why);
}

/** How long it must be quiet before the bot is told; an album is answered as one, voice notes come alone. */
function quietMsOf({ debounce_ms }: TypebotConfig, input: BotInput | undefined, said: Said): number {
  if (!takesTogether(input, said, said)) return 0;
  const mayBeAlbum = said.kind === "file" && said.files.some((file) => !isClip(file));
  return mayBeAlbum ? Math.max(debounce_ms, ALBUM_QUIET_MS) : debounce_ms;
}

/** In the bot's stead, which could not make anything of it. */
async function refuse(deps: BotDeps, hearing: Hearing, why: "unsupported" | "invalid"): Promise<JobEnd> {
  const { config, known, session } = hearing;
  // A file cannot start a bot, but the person who sent it can.
  if (!session) return take(deps, hearing, undefined);
  const parts =
    why === "invalid" && session.input
      ? toPrompt(session.input)
      : [{ kind: "text" as const, text: config.unsupported_message }];
  return endTogether(deps, hearing, { parts, state: known.state, limit: config });
}

/** Ends a message with those that were joined to it. */
function endTogether(
  deps: BotDeps,
  hearing: Hearing,
  ending: Ending,
  taken?: { link: Link; status: Link["status"] },
): Promise<JobEnd> {
  const { work, known, joined } = hearing;
  return speak(deps, hearing, ending, async (trx) => {
    if (taken) await setLink(trx, taken.link.id, { status: taken.status });
    return endJoined(trx, work.integration, known.chat, joined);
  });
}

/** Asks the bot, once: the claim is written before, so that nobody asks again after a crash. */
async function take(deps: BotDeps, hearing: Hearing, message: BotMessage | undefined): Promise<JobEnd> {
  const { work, session, known, joined } = hearing;
  const { integration, event } = work;
  const key = { chat: known.chat, message_id: event.data.message.message_id as string };
  const claim = await claimTurn(deps.db, integration, key, joined);
  const { link } = claim;
  if (!claim.isOurs && link.status !== "claimed") return { end: "done" };
  if (!claim.isOurs) {
    // A process that died over a start has left a session that nobody goes on with.
    if (session || link.error === UNKNOWN_START)
      return leaveUnknown(deps, { ...hearing, joined: claim.joined }, link);
    await claimJoined(deps.db, integration, key, joined);
    link.error = UNKNOWN_START;
    await setLink(deps.db, link.id, { error: UNKNOWN_START });
  }
  const asked = await ask(deps, hearing, message);
  faultPoint("typebot:after-response");
  return conclude(deps, hearing, { ...claim, joined }, asked);
}

/** A session that the bot has forgotten starts anew, once, with the same words. */
async function ask(deps: BotDeps, hearing: Hearing, message: BotMessage | undefined): Promise<Asked> {
  const { work, config, session, said } = hearing;
  const { integration } = work;
  if (session) {
    const asked = await deps.bots.goOn(integration, config, session, message);
    if (asked.asked !== "forgotten") return asked;
  }
  const first: BotMessage | undefined = message && said.text ? { type: "text", text: said.text } : message;
  const variables = await variablesOf(deps, work, config, said.text);
  return deps.bots.start(integration, config, { message: first, variables });
}

async function conclude(deps: BotDeps, hearing: Hearing, claim: Claim, asked: Asked): Promise<JobEnd> {
  const { work, session, config, known } = hearing;
  const { link } = claim;
  switch (asked.asked) {
    case "answered": {
      const { message_id } = work.event.data.message;
      const turn = { answer: asked.answer, hop: 0, message_id };
      return endTurn(deps, { ...hearing, ...turn, session, config, known, claim });
    }
    case "again":
      return tryAgain(deps, hearing, claim, asked);
    case "unknown":
      return leaveUnknown(deps, hearing, link);
    default: {
      const kept = asked.asked === "refused" && asked.isSessionOpen ? session : undefined;
      const state = { ...known.state, session: kept };
      return endTogether(deps, hearing, { parts: [], state }, { link, status: "failed" });
    }
  }
}

async function tryAgain(
  deps: BotDeps,
  hearing: Hearing,
  claim: Claim,
  { isSafe, failed }: Extract<Asked, { asked: "again" }>,
): Promise<JobEnd> {
  const { work, known } = hearing;
  const { link } = claim;
  const isSpent = !isSafe && link.error === UNKNOWN_START;
  if (isSpent || !isWorthWaiting(failed, work.event.recorded_at))
    return endTogether(deps, hearing, { parts: [], state: known.state }, { link, status: "failed" });
  await releaseTurn(deps.db, work.integration, claim, isSafe ? {} : { error: UNKNOWN_START });
  return retryCall(deps, work.job, failed);
}

/** The bot may have moved on, so nothing is repeated; what it waits for now is not known until it says so again. */
async function leaveUnknown(deps: BotDeps, hearing: Hearing, link: Link): Promise<JobEnd> {
  const { known, session, work } = hearing;
  await deps.health.warn(
    work.integration,
    "It is not known whether the bot got a message, because its answer was lost; it goes on with the next one.",
  );
  const state = { ...known.state, ...(session && { session: { ...session, input: undefined } }) };
  return endTogether(deps, hearing, { parts: [], state }, { link, status: "unknown" });
}
