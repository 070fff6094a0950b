import { ERROR_CODES, type ErrorCode } from "./error-codes.ts";
import {
  type FieldIssue,
  type IssueCode,
  type IssueReason,
  type ParamsOf,
  valueIssue,
} from "./issue-codes.ts";

export interface ErrorDetails {
  readonly [name: string]: unknown;
  /** The wrong fields of a VALIDATION_ERROR. */
  readonly fields?: readonly FieldIssue[];
}

export interface GatewayErrorOptions {
  details?: ErrorDetails;
  retryAfterSeconds?: number;
  /** Extra headers of the response. */
  headers?: Record<string, string>;
  cause?: unknown;
}

/** Every error that the gateway returns to a caller: a code from the table and a message. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;
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

/** An error that names one field of the request. */
export function invalidField<C extends IssueCode>(
  field: string,
  issue: string,
  code: C,
  ...[params]: ParamsOf<C>
): GatewayError {
  return invalidFields([{ field, code, params: params ?? {}, issue }]);
}

/** An error that names several fields: its message is about the first one. */
export function invalidFields(
  fields: readonly [FieldIssue, ...FieldIssue[]],
  details: Record<string, unknown> = {},
): GatewayError {
  const [{ field, issue }] = fields;
  return new GatewayError("VALIDATION_ERROR", `${field}: ${issue}`, {
    details: { ...details, fields },
  });
}

/** The reason of the first wrong field. */
export function reasonOf({ details }: GatewayError): IssueReason {
  const { code, params } = details?.fields?.[0] ?? valueIssue("", "invalid");
  return { code, params };
}

export function notForAgents(): GatewayError {
  return new GatewayError(
    "FORBIDDEN",
    "The role agent may not do this. Ask an administrator of the account.",
    { details: { needs: "admin" } },
  );
}
