import type { ReplyPart } from "../to-replies.ts";
import { bubbleToReply } from "./bubble-to-reply.ts";
import { pollOptionsOf } from "./input/choice-option.ts";
import { toPrompt } from "./input/to-prompt.ts";
import type { Bubble, ClientAction, TypebotResponse, TypingEmulation } from "./typebot-api.ts";
import type { TypebotConfig } from "./typebot-config.ts";

/** The content of a bot's response. */
export interface BotTurn {
  parts: ReplyPart[];
  /** The bot waits for a request without a message, after this time. */
  continueAfterMs: number | undefined;
  /** The flow has ended. */
  isOver: boolean;
  /** The bot waits for an outside call, not for the user. */
  isListening: boolean;
  /** What WhatsApp cannot do, as text for the owner of the bot. */
  warnings: string[];
}

/** Only a browser could run these; the flow continues without their result. */
const FOR_BROWSERS = new Set([
  "setVariable",
  "httpRequestToExecute",
  "codeToExecute",
  "stream",
  "streamOpenAiChatCompletion",
]);

/**
 * Reads a response: bubbles, the actions between them, the prompt of its input, and whether the flow has
 * ended.
 */
export function toBotTurn(
  response: TypebotResponse,
  config: TypebotConfig,
  typing: TypingEmulation | undefined,
): BotTurn {
  const actions = response.clientSideActions ?? [];
  const awaited = actions.find(({ expectsDedicatedReply }) => expectsDedicatedReply === true);
  const isListening = awaited?.type === "listenForWebhook";
  const waitsForEmbed = response.messages.some(isWaitingEmbed);
  return {
    parts: joinPrompt(spokenParts(response, actions, config, typing), response, config),
    continueAfterMs: awaited && !isListening ? waitOf(awaited, config) : undefined,
    isOver: !response.input && !awaited && !waitsForEmbed,
    isListening,
    warnings: actions.flatMap(warningOf),
  };
}

function warningOf({ type }: ClientAction): string[] {
  if (type === "listenForWebhook")
    return [
      "The flow waits for a webhook, which does not work in WhatsApp. It continues only after it is started again.",
    ];
  return FOR_BROWSERS.has(type) ? [`The flow has a step for browsers (${type}), which is skipped.`] : [];
}

function isWaitingEmbed({ type, content }: Bubble): boolean {
  if (type === "custom-embed") return true;
  const waiting = content?.waitForEvent;
  return (
    type === "embed" &&
    typeof waiting === "object" &&
    waiting !== null &&
    "isEnabled" in waiting &&
    waiting.isEnabled === true
  );
}

/** How long a wait of the flow lasts, up to the configured limit. */
function waitOf({ wait }: ClientAction, { max_wait_seconds }: TypebotConfig): number {
  return 1000 * Math.min(Math.max(0, wait?.secondsToWaitFor ?? 0), max_wait_seconds);
}

/** The bubbles in their order; each with its typing time, and the flow's wait before it. */
function spokenParts(
  { messages }: TypebotResponse,
  actions: readonly ClientAction[],
  config: TypebotConfig,
  typing: TypingEmulation | undefined,
): ReplyPart[] {
  const pace = new Pace(config, typing);
  const parts: ReplyPart[] = [];
  const act = (after: string | undefined) => {
    for (const action of actions.filter(({ lastBubbleBlockId }) => lastBubbleBlockId === after)) {
      if (action.type === "wait" && !action.expectsDedicatedReply) pace.wait(waitOf(action, config));
      const url = action.type === "redirect" ? action.redirect?.url : undefined;
      if (url) parts.push(pace.before({ kind: "text", text: url }));
    }
  };
  act(undefined);
  for (const bubble of messages) {
    const part = bubbleToReply(bubble);
    if (part) parts.push(pace.before(part));
    act(bubble.id);
  }
  return parts;
}

const DEFAULT_SPEED = 400;
const DEFAULT_MAX_DELAY_S = 3;

/** How long a bot appears to type. Source: Typebot, `computeTypingDuration`. */
class Pace {
  readonly #config: TypebotConfig;
  readonly #typing: TypingEmulation;
  #isFirst = true;
  #waitMs = 0;
  #silentMs = 0;

  constructor(config: TypebotConfig, typing: TypingEmulation = {}) {
    this.#config = config;
    this.#typing = typing;
  }

  wait(ms: number): void {
    this.#waitMs += ms;
  }

  /** The part with its wait before it. */
  before(part: ReplyPart): ReplyPart {
    const { min_delay_ms, max_delay_ms, typing_presence } = this.#config;
    const typed = this.#isFirst ? 0 : Math.min(Math.max(this.#typingMs(part), min_delay_ms), max_delay_ms);
    const ms = Math.round(typed + this.#waitMs);
    this.#isFirst = false;
    this.#waitMs = 0;
    if (ms === 0) return part;
    if (typing_presence) return { ...part, delay_ms: ms };
    this.#silentMs += ms;
    return { ...part, run_at: new Date(Date.now() + this.#silentMs) };
  }

  #typingMs(part: ReplyPart): number {
    const {
      enabled = true,
      speed = DEFAULT_SPEED,
      maxDelay = DEFAULT_MAX_DELAY_S,
      delayBetweenBubbles = 0,
    } = this.#typing;
    const wordCount = part.kind === "text" ? part.text.split(/\s+/).length : 0;
    const seconds = enabled && speed > 0 ? Math.min((wordCount / speed) * 60, maxDelay) : 0;
    return 1000 * (seconds + Math.max(0, delayBetweenBubbles));
  }
}

/** A list of choices goes below its question, or is a poll with it. */
function joinPrompt(parts: ReplyPart[], { input }: TypebotResponse, { choices }: TypebotConfig): ReplyPart[] {
  const prompt = input ? toPrompt(input) : [];
  const [first, ...rest] = prompt;
  const last = parts.at(-1);
  const options = input && choices === "poll" ? pollOptionsOf(input) : [];
  if (options.length > 1 && last?.kind === "text")
    return [...parts.slice(0, -1), { ...last, kind: "question", options }];
  if (prompt.length !== 1 || first?.kind !== "text" || last?.kind !== "text") return [...parts, ...prompt];
  return [...parts.slice(0, -1), { ...last, text: `${last.text}\n\n${first.text}` }, ...rest];
}
