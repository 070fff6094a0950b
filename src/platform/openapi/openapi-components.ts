import { ERROR_CODES } from "../error-codes.ts";
import type { RouteAccess } from "../http/route.ts";

/** A binary body. */
export const FILE_SCHEMA = { type: "string", format: "binary" };

type Requirement = Readonly<Record<string, readonly string[]>>;

const KEY: readonly Requirement[] = [{ apiKey: [] }, { tokenHeader: [] }, { bearer: [] }];
const SECURITY: Readonly<Record<RouteAccess, readonly Requirement[]>> = {
  public: [],
  account: [{ bearer: [] }],
  instance: KEY,
  key: KEY,
  key_or_admin: [...KEY, { adminToken: [] }],
  admin: [{ adminToken: [] }],
  owner: [{ bearer: [] }, { adminToken: [] }],
  manager: [{ bearer: [] }, { adminToken: [] }],
};

export function securityRequirementsOf(access: RouteAccess): readonly Requirement[] {
  return SECURITY[access];
}

const RESPONSE_HEADERS = { "x-request-id": { $ref: "#/components/headers/RequestId" } };

const REFUSAL = {
  type: "object",
  properties: {
    success: { const: false },
    code: {
      enum: Object.keys(ERROR_CODES),
      description: "Stable code of the error; use it in programs. `/docs/waygate/errors` explains each code.",
    },
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
};

const PROBLEM = {
  type: "object",
  description: "RFC 9457 format, for requests with `Accept: application/problem+json`.",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { $ref: "#/components/schemas/Refusal/properties/code" },
    details: { type: "object" },
    request_id: { type: "string" },
  },
  required: ["type", "title", "status", "detail", "code", "request_id"],
};

/** Components that all operations share. */
export const OPENAPI_COMPONENTS = {
  schemas: {
    Envelope: {
      type: "object",
      properties: { success: { const: true }, message: { type: "string" }, data: {} },
      required: ["success", "message"],
    },
    FieldIssue: {
      type: "object",
      properties: { field: { type: "string" }, issue: { type: "string" } },
      required: ["field", "issue"],
    },
    Refusal: REFUSAL,
    Problem: PROBLEM,
  } as Record<string, unknown>,
  parameters: {
    IdempotencyKey: {
      name: "Idempotency-Key",
      in: "header",
      required: false,
      description: "A second request with the same key and body within 24 hours returns the first response.",
      schema: { type: "string", minLength: 1, maxLength: 257 },
    },
  },
  headers: {
    RequestId: {
      description: "Id of the request: your `x-request-id` if it is well formed, otherwise a generated one.",
      schema: { type: "string" },
    },
  },
  responses: {
    Refusal: {
      description: "The request was rejected; `code` determines the status.",
      headers: {
        ...RESPONSE_HEADERS,
        "retry-after": {
          description: "Seconds to wait before the next attempt.",
          schema: { type: "integer", minimum: 1 },
        },
      },
      content: {
        "application/json": { schema: { $ref: "#/components/schemas/Refusal" } },
        "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
      },
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
