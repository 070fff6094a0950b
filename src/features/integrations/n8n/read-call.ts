import type { FetchOutcome } from "../../../platform/safe-fetch.ts";
import type { CallReading } from "../health.ts";
import type { N8nConfig } from "./config.ts";
import { explain } from "./explain.ts";
import { isNotActive, isUnauthorised, judgeWorkflow } from "./judge-workflow.ts";

/** What an outcome says of the workflow. */
export function readCall(outcome: FetchOutcome, config: N8nConfig): Required<CallReading> {
  const verdict = judgeWorkflow(outcome, config);
  const isRefusal = isNotActive(outcome) || isUnauthorised(outcome);
  const status = isNotActive(outcome) ? "inactive" : verdict.verdict === "ok" ? "ok" : verdict.status;
  return { verdict, status, isRefusal, error: explain(outcome, config) };
}
