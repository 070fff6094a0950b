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

/** How asking a bot went. */
export type BotClientResult =
  | { asked: "answered"; answer: TypebotResponse }
  /** The bot does not know the session any more. */
  | { asked: "forgotten" }
  /** It may be asked again; `isSafe`: it has surely not run anything. */
  | { asked: "again"; isSafe: boolean; failed: FailedCall }
  /** It may have moved on, and nobody knows. */
  | { asked: "unknown" }
  /** It says no; `isSessionOpen`: the flow still stands where it stood. */
  | { asked: "refused"; isSessionOpen: boolean };

export interface BotClient {
  start(
    integration: Integration,
    config: TypebotConfig,
    said: { message: BotMessage | undefined; variables: Record<string, unknown> },
  ): Promise<BotClientResult>;
  goOn(
    integration: Integration,
    config: TypebotConfig,
    session: BotSession,
    message: BotMessage | undefined,
  ): Promise<BotClientResult>;
}

const RICH = { textBubbleContentFormat: "richText" };

/** Calls bots, and keeps account of how it goes. */
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
    const note = await health.note(integration, outcome, beganAt, reading);
    return { outcome, call: { ...note, isRefusal: reading.isRefusal } };
  }

  return {
    async start(integration, config, { message, variables }) {
      const said = { ...(message && { message }), prefilledVariables: variables };
      const body = { ...said, ...RICH, isStreamEnabled: false, isOnlyRegistering: false };
      const { outcome, call } = await ask(integration, config, startPath(config), body);
      const answer = isOk(call) ? parseBotAnswer(outcome) : undefined;
      if (answer?.sessionId) return { asked: "answered", answer };
      if (isOk(call)) await health.warn(integration, NOT_A_VIEWER);
      if (isUntaken(call)) return { asked: "again", isSafe: true, failed: call };
      if (call.verdict.verdict === "retry") return { asked: "again", isSafe: false, failed: call };
      return { asked: "refused", isSessionOpen: false };
    },

    async goOn(integration, config, session, message) {
      const body = { ...(message && { message }), ...RICH };
      const path = continuePath(session.session_id);
      const { outcome, call } = await ask(integration, config, path, body);
      if (isUntaken(call)) return { asked: "again", isSafe: true, failed: call };
      const isStop = call.verdict.verdict === "stop";
      if (isStop && isSessionGone(outcome)) return { asked: "forgotten" };
      const answer = isOk(call) ? parseBotAnswer(outcome) : undefined;
      if (answer) return { asked: "answered", answer };
      // The viewer also says 404 of what a step of the flow lacks, such as credentials.
      if (isStop) return { asked: "refused", isSessionOpen: isNotFound(outcome) };
      if (isOk(call)) await health.warn(integration, NOT_A_VIEWER);
      return { asked: "unknown" };
    },
  };
}

function isOk({ verdict }: FailedCall): boolean {
  return verdict.verdict === "ok";
}

/** The bot has surely not run, and may do so later: when it is there, when it lets us in, or as it is configured by now. */
function isUntaken({ verdict, isRefusal, isStale }: FailedCall): boolean {
  if (verdict.verdict === "retry") return verdict.isSafe;
  return verdict.verdict === "stop" && (isRefusal || isStale);
}
