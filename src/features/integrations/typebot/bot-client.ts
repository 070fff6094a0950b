import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import type { IntegrationHealth } from "../integration-health.ts";
import type { IntegrationDeps } from "../integration-provider.ts";
import type { Integration } from "../integration-row.ts";
import type { FailedCall } from "../retry-call.ts";
import type { BotSession } from "./bot-chat.ts";
import { NOT_A_VIEWER } from "./explain-typebot-response.ts";
import { readCall } from "./read-call.ts";
import {
  type BotMessage,
  continuePath,
  isNotFound,
  isSessionGone,
  parseBotAnswer,
  requestTypebot,
  startPath,
  type TypebotResponse,
} from "./typebot-api.ts";
import type { TypebotConfig } from "./typebot-config.ts";

/** The result of a request to a bot. */
export type BotClientResult =
  | { outcome: "answered"; answer: TypebotResponse }
  /** The bot no longer knows the session. */
  | { outcome: "forgotten" }
  /** The request may be repeated; `isSafe`: the flow has not run for certain. */
  | { outcome: "again"; isSafe: boolean; failed: FailedCall }
  /** The flow may have advanced; the outcome is unknown. */
  | { outcome: "unknown" }
  /** The bot rejects the request; `isSessionOpen`: the flow is still at the same step. */
  | { outcome: "refused"; isSessionOpen: boolean };

export interface BotClient {
  start(
    integration: Integration,
    config: TypebotConfig,
    said: { message: BotMessage | undefined; variables: Record<string, unknown> },
  ): Promise<BotClientResult>;
  resume(
    integration: Integration,
    config: TypebotConfig,
    session: BotSession,
    message: BotMessage | undefined,
  ): Promise<BotClientResult>;
}

const RICH = { textBubbleContentFormat: "richText" };

/** Sends requests to bots, and records the results. */
export function createBotClient(
  { outgoing }: Pick<IntegrationDeps, "outgoing">,
  health: IntegrationHealth,
): BotClient {
  async function ask(
    integration: Integration,
    config: TypebotConfig,
    path: string,
    body: Record<string, unknown>,
  ): Promise<{ outcome: FetchOutcome; call: FailedCall }> {
    const beganAt = performance.now();
    const outcome = await requestTypebot(
      outgoing,
      { instance_id: integration.instance_id },
      config,
      path,
      body,
    );
    const reading = readCall(outcome, config);
    const note = await health.recordResponse(integration, outcome, beganAt, reading);
    return { outcome, call: { ...note, isRefusal: reading.isRejected } };
  }

  return {
    async start(integration, config, { message, variables }) {
      const said = { ...(message && { message }), prefilledVariables: variables };
      const body = { ...said, ...RICH, isStreamEnabled: false, isOnlyRegistering: false };
      const { outcome, call } = await ask(integration, config, startPath(config), body);
      const answer = isOk(call) ? parseBotAnswer(outcome) : undefined;
      if (answer?.sessionId) return { outcome: "answered", answer };
      if (isOk(call)) await health.warn(integration, NOT_A_VIEWER);
      if (isUntaken(call)) return { outcome: "again", isSafe: true, failed: call };
      if (call.verdict.class === "retry") return { outcome: "again", isSafe: false, failed: call };
      return { outcome: "refused", isSessionOpen: false };
    },

    async resume(integration, config, session, message) {
      const body = { ...(message && { message }), ...RICH };
      const path = continuePath(session.session_id);
      const { outcome, call } = await ask(integration, config, path, body);
      if (isUntaken(call)) return { outcome: "again", isSafe: true, failed: call };
      const isStop = call.verdict.class === "stop";
      if (isStop && isSessionGone(outcome)) return { outcome: "forgotten" };
      const answer = isOk(call) ? parseBotAnswer(outcome) : undefined;
      if (answer) return { outcome: "answered", answer };
      // The viewer also returns 404 if a step of the flow lacks something, such as credentials.
      if (isStop) return { outcome: "refused", isSessionOpen: isNotFound(outcome) };
      if (isOk(call)) await health.warn(integration, NOT_A_VIEWER);
      return { outcome: "unknown" };
    },
  };
}

function isOk({ verdict }: FailedCall): boolean {
  return verdict.class === "ok";
}

/**
 * The flow has not run for certain, but can run later: when the bot is reachable, accepts us, or with the new
 * configuration.
 */
function isUntaken({ verdict, isRefusal, isStale }: FailedCall): boolean {
  if (verdict.class === "retry") return verdict.isSafe;
  return verdict.class === "stop" && (isRefusal || isStale);
}
