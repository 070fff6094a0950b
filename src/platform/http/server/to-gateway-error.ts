import { isDatabaseUnavailable, isStatementTimeout, isTransientDatabaseError } from "../../db/database.ts";
import type { ErrorCode } from "../../error-codes.ts";
import { GatewayError } from "../../gateway-error.ts";

const OF_THE_SERVER: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_BAD_URL: ["VALIDATION_ERROR", "The address is not a valid URL."],
  FST_ERR_MAX_PARAM_LENGTH: ["VALIDATION_ERROR", "A part of the address is too long."],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["VALIDATION_ERROR", "The body is not as long as Content-Length says."],
  FST_ERR_CTP_BODY_TOO_LARGE: ["PAYLOAD_TOO_LARGE", "The body is too large."],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    "UNSUPPORTED_MEDIA_TYPE",
    "Send the body as JSON in UTF-8, with the header Content-Type: application/json and without Content-Encoding.",
  ],
  HPE_HEADER_OVERFLOW: ["HEADERS_TOO_LARGE", "The request headers are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: ["REQUEST_TIMEOUT", "The request took too long to arrive."],
};

const DISK_FULL = new Set(["ENOSPC", "53100"]);

/** The error that the caller gets for a thrown value. Internal errors become INTERNAL, without details. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = codeOf(error);
  const known = OF_THE_SERVER[code];
  if (known) return new GatewayError(...known, { cause: error });
  if (DISK_FULL.has(code)) {
    const sentence = "The gateway's storage is full. Its operator has to free disk space.";
    return new GatewayError("STORAGE_FULL", sentence, { cause: error, retryAfterSeconds: 60 });
  }
  if (isDatabaseUnavailable(error)) {
    const sentence = "The database cannot be reached now. Try again in a moment.";
    return new GatewayError("UNAVAILABLE", sentence, { cause: error, retryAfterSeconds: 2 });
  }
  if (isStatementTimeout(error)) {
    const sentence =
      "The database needed more than 10 seconds for this request. Ask for less at once: fewer rows, or a narrower filter.";
    return new GatewayError("UNAVAILABLE", sentence, { cause: error, retryAfterSeconds: 10 });
  }
  if (isTransientDatabaseError(error)) {
    const sentence = "Too many requests change the same data at once. Try again in a moment.";
    return new GatewayError("UNAVAILABLE", sentence, { cause: error, retryAfterSeconds: 1 });
  }
  return new GatewayError(
    "INTERNAL",
    "The gateway failed to handle this request. Its log has the error under the request_id.",
    { cause: error },
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
