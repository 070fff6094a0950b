import { z } from "zod";
import { ERROR_CODES, type ErrorCode } from "../../src/platform/error-codes.ts";
import { GatewayError, invalidField } from "../../src/platform/gateway-error.ts";
import { fieldIssue } from "../../src/platform/http/reason-schemas.ts";
import type { Route, RouteAccess } from "../../src/platform/http/route.ts";
import { named } from "../../src/platform/http/schema-name.ts";
import { errorBody } from "../../src/platform/http/server/response-serializer.ts";

/** An API key of an instance, or a sign-in. */
export const DEFAULT_SECURITY: Record<string, string[]>[] = [
  { apiKey: [] },
  { tokenHeader: [] },
  { bearer: [] },
];
export const SECURITY: Readonly<Record<RouteAccess, Record<string, string[]>[]>> = {
  public: [],
  account: [{ bearer: [] }],
  instance: DEFAULT_SECURITY,
  key: DEFAULT_SECURITY,
  key_or_admin: [...DEFAULT_SECURITY, { adminToken: [] }],
  admin: [{ adminToken: [] }],
  owner: [{ bearer: [] }, { adminToken: [] }],
  manager: [{ bearer: [] }, { adminToken: [] }],
};

export const SECURITY_SCHEMES = {
  apiKey: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "API key of an instance; also as `apikey`.",
  },
  tokenHeader: { type: "apiKey", in: "header", name: "token", description: "API key of an instance." },
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "The JWT of `POST /api/auth/login` (also as `x-auth-token`), or the API key of an instance.",
  },
  adminToken: { type: "apiKey", in: "header", name: "admintoken", description: "`WAYGATE_ADMIN_TOKEN`." },
} as const;

export const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  description: "A second request with the same key and body within 24 hours returns the first response.",
  schema: { type: "string", minLength: 1, maxLength: 257 },
} as const;

export const HEADERS = {
  RequestId: {
    description: "Id of the request: your `x-request-id` if it is well formed, otherwise a generated one.",
    schema: { type: "string" },
  },
  RetryAfter: {
    description: "Seconds to wait before the next attempt; absent where waiting does not help.",
    schema: { type: "integer", minimum: 1 },
  },
} as const;

const errorCode = named(
  "ErrorCode",
  z
    .enum(Object.keys(ERROR_CODES))
    .describe("Stable code of the error; use it in programs. `/docs/waygate/errors` explains each code."),
);

const refusal = named(
  "Refusal",
  z.object({
    success: z.literal(false),
    code: errorCode,
    message: z.string().describe("Description of the error for people; it may change."),
    error: z.string().describe("The same as `message`."),
    details: z
      .object({ fields: z.array(fieldIssue) })
      .partial()
      .optional()
      .describe("Further data of the error; for VALIDATION_ERROR the invalid `fields`."),
    request_id: z.string(),
  }),
);

const problem = named(
  "Problem",
  z
    .object({
      type: z.string(),
      title: z.string(),
      status: z.int32(),
      detail: z.string(),
      code: errorCode,
      details: z.looseObject({}).optional(),
      request_id: z.string(),
    })
    .describe("RFC 9457 format, for requests with `Accept: application/problem+json`."),
);

/** By the name of their schema. */
export const ERROR_EXAMPLES = {
  Refusal: bodyOf(
    invalidField("number", "must have 7 to 15 digits, with country and area code", "too_short", { min: 7 }),
  ),
  Problem: bodyOf(new GatewayError("NOT_FOUND", "There is no such instance."), "application/problem+json"),
};

function bodyOf(error: GatewayError, accept?: string): unknown {
  return JSON.parse(errorBody(error, "req_01M7VZ7A9ZBG8NWRNYBYXP4FZP", accept).body);
}

/** Codes that any request can get; they are in the default response of every operation. */
const OF_EVERY_ROUTE: readonly ErrorCode[] = [
  "ROUTE_NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "REQUEST_TIMEOUT",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "RATE_LIMITED",
  "HEADERS_TOO_LARGE",
  "INTERNAL",
  "UNAVAILABLE",
];

const OF_CREDENTIALS = ["AUTH_REQUIRED", "INSTANCE_FORBIDDEN", "FORBIDDEN", "ACCOUNT_RESTRICTED"] as const;

/** The responses of errors, one per status, and the default for those that any request can get. */
export function errorResponses() {
  const codes = Object.keys(ERROR_CODES) as ErrorCode[];
  const own = codes.filter((code) => !OF_EVERY_ROUTE.includes(code));
  const statuses = new Set(own.map((code) => ERROR_CODES[code].status));
  const responses = [...statuses].map((status) => [
    status,
    errorResponse(own.filter((code) => ERROR_CODES[code].status === status)),
  ]);
  return {
    ...(Object.fromEntries(responses) as Record<string, ReturnType<typeof errorResponse>>),
    default: errorResponse(OF_EVERY_ROUTE),
  };
}

function errorResponse(codes: readonly ErrorCode[]) {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].meaning}`).join("\n\n"),
    headers: {
      "x-request-id": { $ref: "#/components/headers/RequestId" },
      "retry-after": { $ref: "#/components/headers/RetryAfter" },
    },
    content: { "application/json": { schema: refusal }, "application/problem+json": { schema: problem } },
  };
}

/** References to the responses of the errors of a route, by status. */
export function errorResponsesOf(route: Route, has: { input: boolean; pathFields: boolean }) {
  const codes: ErrorCode[] = [
    ...(has.input ? (["VALIDATION_ERROR"] as const) : []),
    ...(route.access === "public" ? [] : OF_CREDENTIALS),
    ...(has.pathFields ? (["NOT_FOUND"] as const) : []),
    ...(route.idempotent ? (["IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_MISMATCH"] as const) : []),
    ...(route.accepted ? (["QUEUE_UNAVAILABLE"] as const) : []),
    ...(route.errors ?? []),
  ];
  const statuses = new Set(codes.map((code) => route.errorStatuses?.[code] ?? ERROR_CODES[code].status));
  const names = [...statuses, "default"];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/responses/${name}` }]));
}
