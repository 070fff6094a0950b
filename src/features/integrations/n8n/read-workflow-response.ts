import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import type { ResponseReading } from "../integration-health.ts";
import { classifyWorkflowResponse, isNotActive, isUnauthorised } from "./classify-workflow-response.ts";
import { explainN8nResponse } from "./explain-n8n-response.ts";
import type { N8nConfig } from "./n8n-config.ts";

/** The meaning of an outcome for the workflow. */
export function readWorkflowResponse(outcome: FetchOutcome, config: N8nConfig): Required<ResponseReading> {
  const responseClass = classifyWorkflowResponse(outcome, config);
  const isRejected = isNotActive(outcome) || isUnauthorised(outcome);
  const status = isNotActive(outcome)
    ? "inactive"
    : responseClass.class === "ok"
      ? "ok"
      : responseClass.status;
  return {
    responseClass,
    status,
    isRejected,
    ...explainN8nResponse(outcome, config),
  };
}
