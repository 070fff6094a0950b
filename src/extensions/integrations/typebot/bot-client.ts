import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import type { FailedRequest } from "../delivery/retry-request.ts";
import type { IntegrationDeps } from "../integration-provider.ts";
import type { Integration } from "../integration-row.ts";
import type { BotSession } from "./bot-chat.ts";
import { NOT_A_VIEWER } from "./explain-typebot-response.ts";
import { readOutcome } from "./read-outcome.ts";
import {
  type BotMessage,
  continuePath,
  isNotFound,
  isSessionGone,
  parseBotResponse,
  requestTypebot,
  startPath,
  type TypebotResponse,
} from "./typebot-api.ts";
import type { TypebotConfig } from "./typebot-config.ts";

/** The result of a request to a bot. */
export type BotClientResult =
  | { outcome: "answered"; response: TypebotResponse }
  /** The bot no longer knows the session. */
  | { outcome: "forgotten" }
  /** The request may be repeated; `isSafe`: the flow has not run for certain. */
  | { outcome: "again"; isSafe: boolean; failed: FailedRequest }
  /** The flow may have advanced; the outcome is unknown. */
  | { outcome: "unknown" }
  /** The bot rejects the request; `isSessionOpen`: the flow is still at the same step. */
  | { outcome: "refused"; isSessionOpen: boolean };

export interface BotClient {
  start(
    integration: Integration,
    config: TypebotConfig,
    input: { message: BotMessage | undefined; variables: Record<string, unknown> },
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
export function createBotClient({
  outgoing,
  health,
}: Pick<IntegrationDeps, "outgoing" | "health">): BotClient {
  async function request(
    integration: Integration,
    config: TypebotConfig,
    path: string,
    body: Record<string, unknown>,
  ): Promise<{ outcome: FetchOutcome; result: FailedRequest }> {
    const beganAt = performance.now();
    const outcome = await requestTypebot(
      outgoing,
      { instance_id: integration.instance_id },
      config,
      path,
      body,
    );
    const reading = readOutcome(outcome, config);
    const note = await health.recordResponse(integration, outcome, beganAt, reading);
    return { outcome, result: { ...note, isRefusal: reading.isRejected } };
  }

  return {
    async start(integration, config, { message, variables }) {
      const input = { ...(message && { message }), prefilledVariables: variables };
      const body = { ...input, ...RICH, isStreamEnabled: false, isOnlyRegistering: false };
      const { outcome, result } = await request(integration, config, startPath(config), body);
      const { failure } = result;
      const response = failure ? undefined : parseBotResponse(outcome);
      if (response?.sessionId) return { outcome: "answered", response };
      if (!failure) await health.warn(integration, NOT_A_VIEWER, { code: "typebot_not_viewer" });
      if (isUnprocessed(result)) return { outcome: "again", isSafe: true, failed: result };
      if (failure && !failure.final) return { outcome: "again", isSafe: false, failed: result };
      return { outcome: "refused", isSessionOpen: false };
    },

    async resume(integration, config, session, message) {
      const body = { ...(message && { message }), ...RICH };
      const path = continuePath(session.session_id);
      const { outcome, result } = await request(integration, config, path, body);
      const { failure } = result;
      if (isUnprocessed(result)) return { outcome: "again", isSafe: true, failed: result };
      if (failure?.final && isSessionGone(outcome)) return { outcome: "forgotten" };
      const response = failure ? undefined : parseBotResponse(outcome);
      if (response) return { outcome: "answered", response };
      // The viewer also returns 404 if a step of the flow lacks something, such as credentials.
      if (failure?.final) return { outcome: "refused", isSessionOpen: isNotFound(outcome) };
      if (!failure) await health.warn(integration, NOT_A_VIEWER, { code: "typebot_not_viewer" });
      return { outcome: "unknown" };
    },
  };
}

/**
 * The flow has not run for certain, but can run later: when the bot is reachable, accepts us, or with the new
 * configuration.
 */
function isUnprocessed({ failure, isRefusal = false, isStale }: FailedRequest): boolean {
  return failure?.final ? isRefusal || isStale : failure?.stage === "before";
}
