/** An error of the gateway, or a response that is not from it (`code` is then `HTTP_<status>`). */
export class WaygateError extends Error {
  override readonly name = "WaygateError";
  readonly code: string;
  readonly status: number;
  readonly details: Record<string, unknown> | undefined;
  readonly request_id: string | undefined;
  /** Seconds to wait before a retry. */
  readonly retryAfterSeconds: number | undefined;
  /** The response body as received. */
  readonly body: unknown;

  constructor(status: number, headers: Headers, body: unknown) {
    const { code, message, details } = (
      typeof body === "object" && body !== null ? body : {}
    ) as Partial<WaygateError>;
    super(message ?? `The gateway responded with status ${status}.`);
    this.code = code ?? `HTTP_${status}`;
    this.status = status;
    this.details = details;
    this.request_id = headers.get("x-request-id") ?? undefined;
    const seconds = Number(headers.get("retry-after") ?? Number.NaN);
    this.retryAfterSeconds = Number.isFinite(seconds) ? seconds : undefined;
    this.body = body;
  }
}
