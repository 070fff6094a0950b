import { ERROR_CODES, type ErrorCode } from "../error-codes.ts";
import type { Route } from "../http/route.ts";
import { RESPONSE_HEADERS } from "./openapi-components.ts";

type Json = Record<string, unknown>;

/** Codes that any request can get; they are in the default response of every operation. */
const OF_EVERY_ROUTE = new Set<ErrorCode>([
  "ROUTE_NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "REQUEST_TIMEOUT",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "RATE_LIMITED",
  "HEADERS_TOO_LARGE",
  "INTERNAL",
  "UNAVAILABLE",
]);

const OF_CREDENTIALS: readonly ErrorCode[] = [
  "AUTH_REQUIRED",
  "INSTANCE_FORBIDDEN",
  "FORBIDDEN",
  "ACCOUNT_RESTRICTED",
];
const OF_IDEMPOTENCY: readonly ErrorCode[] = ["IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_MISMATCH"];

/** What of an operation decides which errors it can return. */
export interface OperationShape {
  hasInput: boolean;
  hasPathFields: boolean;
}

/** References to the responses of the errors of a route, by status. */
export function errorResponsesOf(route: Route, shape: OperationShape): Json {
  const codes: ErrorCode[] = [
    ...(shape.hasInput ? (["VALIDATION_ERROR"] as const) : []),
    ...(route.access === "public" ? [] : OF_CREDENTIALS),
    ...(shape.hasPathFields ? (["NOT_FOUND"] as const) : []),
    ...(route.idempotent ? OF_IDEMPOTENCY : []),
    ...(route.accepted ? (["QUEUE_UNAVAILABLE"] as const) : []),
    ...(route.errors ?? []),
  ];
  const statuses = new Set(codes.map((code) => route.errorStatuses?.[code] ?? ERROR_CODES[code].status));
  return Object.fromEntries(
    [...statuses].map((status) => [status, { $ref: `#/components/responses/${status}` }]),
  );
}

/** The responses of errors, one per status, and the default for those that any request can get. */
export function errorResponses(): Record<string, Json> {
  const codes = Object.keys(ERROR_CODES) as ErrorCode[];
  const statuses = new Set(codes.map((code) => ERROR_CODES[code].status));
  const entries = [...statuses].flatMap((status) => {
    const own = codes.filter((code) => ERROR_CODES[code].status === status && !OF_EVERY_ROUTE.has(code));
    return own.length === 0 ? [] : [[String(status), errorResponse(own)] as const];
  });
  return { ...Object.fromEntries(entries), default: errorResponse([...OF_EVERY_ROUTE]) };
}

function errorResponse(codes: readonly ErrorCode[]): Json {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].meaning}`).join("\n\n"),
    headers: RESPONSE_HEADERS,
    content: {
      "application/json": { schema: { $ref: "#/components/schemas/Refusal" } },
      "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
    },
  };
}
