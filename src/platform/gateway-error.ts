/** Every code that a response can carry, with its HTTP status. */
export const ERROR_STATUS = {
  VALIDATION_ERROR: 400,
  AUTH_REQUIRED: 401,
  INVALID_CREDENTIALS: 401,
  INVALID_TOKEN: 401,
  INVALID_API_KEY: 401,
  INSTANCE_FORBIDDEN: 403,
  FORBIDDEN: 403,
  PASSWORD_REQUIRED: 403,
  ACCOUNT_RESTRICTED: 403,
  PLAN_FEATURE_DISABLED: 403,
  QUOTA_EXCEEDED: 403,
  STORAGE_QUOTA_EXCEEDED: 403,
  NOT_FOUND: 404,
  MESSAGE_NOT_FOUND: 404,
  RECIPIENT_NOT_FOUND: 404,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  INSTANCE_NOT_CONNECTED: 409,
  CONFLICT: 409,
  CAMPAIGN_STATE: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  MEDIA_EXPIRED: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
  RATE_LIMITED: 429,
  MESSAGE_QUOTA_EXCEEDED: 429,
  REACHOUT_TIMELOCK: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  NOT_SUPPORTED: 501,
  SEND_FAILED: 502,
  CONNECT_FAILED: 502,
  MEDIA_DOWNLOAD_FAILED: 502,
  QUEUE_UNAVAILABLE: 503,
  UNAVAILABLE: 503,
  SEND_TIMEOUT: 504,
  STORAGE_FULL: 507,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

export interface GatewayErrorOptions {
  details?: Record<string, unknown>;
  retryAfterSeconds?: number;
  /** Extra headers of the response. */
  headers?: Record<string, string>;
  cause?: unknown;
}

/** Every error that the gateway returns to a caller: a code from the table and a message. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: ErrorCode;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Record<string, string> | undefined;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    const { details, retryAfterSeconds, headers, cause } = options;
    super(message, { cause });
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
    this.headers = headers;
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** An error that names one field of the request. */
export function invalidField(field: string, issue: string): GatewayError {
  return new GatewayError("VALIDATION_ERROR", `${field}: ${issue}`, {
    details: { fields: [{ field, issue }] },
  });
}
