import { WaygateError } from "../client/client.ts";
import { GatewayError, invalidField } from "../platform/gateway-error.ts";
import type { McpOptions } from "./mcp-options.ts";
import { CALL_TIMEOUT_MS, isConnectionLost } from "./request-with-retry.ts";
import { MissingInstanceError } from "./tool.ts";

/** Why a result is missing, as reported to the assistant. */
export interface ToolError {
  success: false;
  code: string;
  message: string;
  details?: unknown;
  request_id?: string;
  retry_after_seconds?: number;
}

type Place = Pick<McpOptions, "baseUrl">;

/** The error that the assistant gets; a bug is reported and not explained. */
export function explainFailure(
  error: unknown,
  { baseUrl, onBug }: Place & Pick<McpOptions, "onBug">,
): ToolError {
  const refusal = error instanceof MissingInstanceError ? missingInstance(baseUrl) : error;
  if (refusal instanceof GatewayError) {
    const { code, message, details } = refusal;
    return { success: false, code, message, details };
  }
  if (error instanceof WaygateError) {
    const { code, message, details, request_id, retryAfterSeconds } = error;
    return { success: false, code, message, details, request_id, retry_after_seconds: retryAfterSeconds };
  }
  if (isConnectionLost(error) && baseUrl !== undefined) {
    const { code = "connection lost" } = error.cause as { code?: string };
    const message = `The gateway at ${new URL(baseUrl).origin} cannot be reached (${code}). Is it running, and is WAYGATE_BASE_URL right?`;
    return { success: false, code: "GATEWAY_UNREACHABLE", message };
  }
  if (error instanceof Error && /^(Timeout|Abort)Error$/.test(error.name)) return timeout(baseUrl);
  onBug(error);
  return { success: false, code: "INTERNAL", message: "The assistant tools have failed." };
}

function missingInstance(baseUrl: string | undefined): GatewayError {
  return invalidField(
    "instanceId",
    baseUrl === undefined
      ? "is required: the credential belongs to no single instance. get_instances lists them"
      : "is required: neither WAYGATE_INSTANCE_ID nor the API key names an instance",
    "missing",
  );
}

function timeout(baseUrl: string | undefined): ToolError {
  const message =
    baseUrl === undefined
      ? `The gateway did not respond within ${CALL_TIMEOUT_MS / 1000} seconds. Read the result before you repeat a change.`
      : `The gateway at ${new URL(baseUrl).origin} did not respond. Check WAYGATE_BASE_URL and that it runs.`;
  return { success: false, code: "GATEWAY_TIMEOUT", message };
}
