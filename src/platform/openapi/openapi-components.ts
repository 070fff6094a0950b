import { ERROR_CODES } from "../error-codes.ts";
import { GatewayError, invalidField } from "../gateway-error.ts";
import { errorBody } from "../http/response-serializer.ts";
import type { RouteAccess } from "../http/route.ts";
import type { JsonSchema } from "./json-schema.ts";

/** A binary body. */
export const FILE_SCHEMA = { type: "string", format: "binary" };

type Requirement = Readonly<Record<string, readonly string[]>>;

/** An API key of an instance, or a sign-in. */
export const DEFAULT_SECURITY: readonly Requirement[] = [{ apiKey: [] }, { tokenHeader: [] }, { bearer: [] }];
const SECURITY: Readonly<Record<RouteAccess, readonly Requirement[]>> = {
  public: [],
  account: [{ bearer: [] }],
  instance: DEFAULT_SECURITY,
  key: DEFAULT_SECURITY,
  key_or_admin: [...DEFAULT_SECURITY, { adminToken: [] }],
  admin: [{ adminToken: [] }],
  owner: [{ bearer: [] }, { adminToken: [] }],
  manager: [{ bearer: [] }, { adminToken: [] }],
};

export function securityRequirementsOf(access: RouteAccess): readonly Requirement[] {
  return SECURITY[access];
}

/** Headers of an error. */
export const RESPONSE_HEADERS = {
  "x-request-id": { $ref: "#/components/headers/RequestId" },
  "retry-after": { $ref: "#/components/headers/RetryAfter" },
};

const REFUSAL = {
  type: "object",
  properties: {
    success: { type: "boolean", const: false },
    code: { $ref: "#/components/schemas/ErrorCode" },
    message: { type: "string", description: "Description of the error for people; it may change." },
    error: { type: "string", description: "The same as `message`." },
    details: {
      type: "object",
      description: "Further data of the error; for VALIDATION_ERROR the invalid `fields`.",
      properties: { fields: { type: "array", items: { $ref: "#/components/schemas/FieldIssue" } } },
    },
    request_id: { type: "string" },
  },
  required: ["success", "code", "message", "error", "request_id"],
  examples: [bodyOf(invalidField("number", "must have 7 to 15 digits, with country and area code"))],
};

const PROBLEM = {
  type: "object",
  description: "RFC 9457 format, for requests with `Accept: application/problem+json`.",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { $ref: "#/components/schemas/ErrorCode" },
    details: { type: "object" },
    request_id: { type: "string" },
  },
  required: ["type", "title", "status", "detail", "code", "request_id"],
  examples: [bodyOf(new GatewayError("NOT_FOUND", "There is no such instance."), "application/problem+json")],
};

function bodyOf(error: GatewayError, accept?: string): unknown {
  return JSON.parse(errorBody(error, "req_01M7VZ7A9ZBG8NWRNYBYXP4FZP", accept).body);
}

/** Schemas that all operations share. */
export const SHARED_SCHEMAS: Record<string, JsonSchema> = {
  Envelope: {
    type: "object",
    properties: { success: { type: "boolean", const: true }, message: { type: "string" }, data: {} },
    required: ["success", "message", "data"],
  },
  FieldIssue: {
    type: "object",
    properties: { field: { type: "string" }, issue: { type: "string" } },
    required: ["field", "issue"],
  },
  ErrorCode: {
    type: "string",
    enum: Object.keys(ERROR_CODES),
    description: "Stable code of the error; use it in programs. `/docs/waygate/errors` explains each code.",
  },
  Refusal: REFUSAL,
  Problem: PROBLEM,
};

/** Other components that all operations share. */
export const OPENAPI_COMPONENTS = {
  parameters: {
    IdempotencyKey: {
      name: "Idempotency-Key",
      in: "header",
      description: "A second request with the same key and body within 24 hours returns the first response.",
      schema: { type: "string", minLength: 1, maxLength: 257 },
    },
  },
  headers: {
    RequestId: {
      description: "Id of the request: your `x-request-id` if it is well formed, otherwise a generated one.",
      schema: { type: "string" },
    },
    RetryAfter: {
      description: "Seconds to wait before the next attempt; absent where waiting does not help.",
      schema: { type: "integer", minimum: 1 },
    },
  },
  securitySchemes: {
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
      description:
        "The JWT of `POST /api/auth/login` (also as `x-auth-token`), or the API key of an instance.",
    },
    adminToken: { type: "apiKey", in: "header", name: "admintoken", description: "`WAYGATE_ADMIN_TOKEN`." },
  },
};
