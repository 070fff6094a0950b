import { ERROR_CODES, type ErrorCode } from "./error-codes.ts";

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
    return ERROR_CODES[this.code].status;
  }
}

/** What programs read of a wrong field, beside the sentence. */
export interface FieldReason {
  code: string;
  params: Record<string, string | number>;
}

/** An error that names one field of the request. */
export function invalidField(field: string, issue: string, reason?: FieldReason): GatewayError {
  return new GatewayError("VALIDATION_ERROR", `${field}: ${issue}`, {
    details: { fields: [{ field, issue, ...reason }] },
  });
}

/** The reason of the first wrong field; undefined for an error that only has a sentence. */
export function reasonOf({ details }: GatewayError): FieldReason | undefined {
  const [field] = Array.isArray(details?.fields) ? (details.fields as Partial<FieldReason>[]) : [];
  return field?.code === undefined ? undefined : { code: field.code, params: field.params ?? {} };
}

export function notForAgents(): GatewayError {
  return new GatewayError(
    "FORBIDDEN",
    "The role agent may not do this. Ask an administrator of the account.",
    { details: { needs: "admin" } },
  );
}
