import { z } from "zod";
import type { FetchOutcome, OutgoingRequest, SafeFetch } from "../../../platform/outgoing/safe-fetch.ts";
import { cleanJson } from "../../../platform/text/clean-text.ts";
import { errorMessageIn } from "../delivery/describe-outcome.ts";
import type { TypebotConfig } from "./typebot-config.ts";

const bubble = z.looseObject({ id: z.string(), type: z.string(), content: z.looseObject({}).optional() });

const input = z.looseObject({
  id: z.string(),
  type: z.string(),
  items: z.array(z.looseObject({})).optional(),
  options: z.looseObject({}).optional(),
});

const clientAction = z.looseObject({
  type: z.string(),
  lastBubbleBlockId: z.string().optional(),
  expectsDedicatedReply: z.boolean().optional(),
  wait: z.looseObject({ secondsToWaitFor: z.coerce.number().catch(0) }).optional(),
  redirect: z.looseObject({ url: z.string().optional() }).optional(),
});

const typing = z.looseObject({
  enabled: z.boolean().optional(),
  speed: z.number().optional(),
  maxDelay: z.number().optional(),
  delayBetweenBubbles: z.number().optional(),
  isDisabledOnFirstMessage: z.boolean().optional(),
});

const response = z.looseObject({
  sessionId: z.string().optional(),
  typebot: z
    .looseObject({ settings: z.looseObject({ typingEmulation: typing.optional() }).optional() })
    .optional(),
  messages: z.array(bubble),
  input: input.optional(),
  clientSideActions: z.array(clientAction).optional(),
});

export type Bubble = z.output<typeof bubble>;
export type BotInput = z.output<typeof input>;
export type ClientAction = z.output<typeof clientAction>;
export type TypingEmulation = z.output<typeof typing>;
export type TypebotResponse = z.output<typeof response>;

/** A user's message to a bot. */
export type BotMessage =
  | { type: "text"; text: string; attachedFileUrls?: string[]; metadata?: { replyId: string } }
  | { type: "audio"; url: string };

/** The bot runs its HTTP and AI blocks before it responds. */
const TOTAL_MS = 60_000;
export const READ_AT_MOST_BYTES = 2 * 1024 * 1024;

/** Calls the chat API of a viewer without `Origin`, since bots may reject those of other sites. */
export function requestTypebot(
  outgoing: SafeFetch,
  tenant: OutgoingRequest["tenant"],
  { base_url, api_token }: TypebotConfig,
  path: string,
  body: Record<string, unknown>,
): Promise<FetchOutcome> {
  return outgoing.fetch({
    url: `${base_url}/api/v1/${path}`,
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      ...(api_token !== undefined && { authorization: `Bearer ${api_token}` }),
    },
    body: JSON.stringify(body),
    totalMs: TOTAL_MS,
    maxBytes: READ_AT_MOST_BYTES,
    tenant,
    isPaced: true,
  });
}

/** In richText: in Markdown, struck-out text fails in some viewers. */
export function startPath({ public_id }: TypebotConfig): string {
  return `typebots/${encodeURIComponent(public_id)}/startChat`;
}

export function continuePath(sessionId: string): string {
  return `sessions/${encodeURIComponent(sessionId)}/continueChat`;
}

export function isNotFound(outcome: FetchOutcome): boolean {
  return outcome.outcome === "response" && outcome.status === 404;
}

/** The token is wrong, or the bot rejects requests from here. */
export function isUnauthorised(outcome: FetchOutcome): boolean {
  return outcome.outcome === "response" && (outcome.status === 401 || outcome.status === 403);
}

/** Whether the viewer no longer knows the session; it returns 404 for other reasons too. */
export function isSessionGone(outcome: FetchOutcome): boolean {
  return isNotFound(outcome) && /^Session (not found|expired)\b/.test(reasonOf(outcome));
}

/**
 * A page in place of a response: a proxy before the viewer returned it, and the viewer did not receive the
 * request.
 */
export function isPage(outcome: FetchOutcome): boolean {
  if (outcome.outcome === "failed" || outcome.truncated) return false;
  return (
    outcome.status >= 200 && outcome.status < 300 && /^\s*</.test(outcome.body.toString("latin1", 0, 100))
  );
}

/** The viewer's own reason for the rejection. */
export function reasonOf(outcome: FetchOutcome): string {
  return outcome.outcome === "response" ? (errorMessageIn(outcome.body.toString("utf8")) ?? "") : "";
}

/** Undefined for a response that does not come from a viewer. */
export function parseBotResponse(outcome: FetchOutcome): TypebotResponse | undefined {
  if (outcome.outcome !== "response" || outcome.truncated) return undefined;
  try {
    return response.safeParse(cleanJson(JSON.parse(outcome.body.toString("utf8")))).data;
  } catch {
    return undefined;
  }
}
