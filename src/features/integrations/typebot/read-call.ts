import type { FetchOutcome } from "../../../platform/safe-fetch.ts";
import { type CallVerdict, isInWordsOfProxy, judgeCall, NOT_THERE_YET } from "../error-policy.ts";
import type { CallReading } from "../health.ts";
import type { TypebotConfig } from "./config.ts";
import { explain } from "./explain.ts";
import { isUnauthorised } from "./typebot-api.ts";

/** A proxy finds out at once that no viewer listens. When the viewer dies over a call, some of its work is done. */
const AT_ONCE_MS = 1_000;

/** What an outcome says of the bot. */
export function readCall(
  outcome: FetchOutcome,
  config: TypebotConfig,
): Required<Omit<CallReading, "status">> {
  const verdict = judgeViewer(outcome);
  return { verdict, isRefusal: isUnauthorised(outcome), error: explain(outcome, config) };
}

function judgeViewer(outcome: FetchOutcome): CallVerdict {
  const isNobodyThere =
    outcome.outcome === "response" &&
    outcome.status === 502 &&
    outcome.durationMs < AT_ONCE_MS &&
    isInWordsOfProxy(outcome);
  return isNobodyThere ? NOT_THERE_YET : judgeCall(outcome);
}
