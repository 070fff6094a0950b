import { RawResponse } from "../../platform/http/handler.ts";

/** The codes of RFC 6749, 7591, 7009, 8707 and 9207 that this server uses. */
export type OAuthErrorCode =
  | "access_denied"
  | "invalid_client"
  | "invalid_client_metadata"
  | "invalid_grant"
  | "invalid_redirect_uri"
  | "invalid_request"
  | "invalid_scope"
  | "invalid_target"
  | "temporarily_unavailable"
  | "unauthorized_client"
  | "unsupported_grant_type"
  | "unsupported_response_type";

const STATUSES: Partial<Record<OAuthErrorCode, number>> = {
  invalid_client: 401,
  temporarily_unavailable: 503,
};

/** A refusal in the terms of OAuth; the message must not contain quotes or backslashes. */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly code: OAuthErrorCode;

  constructor(code: OAuthErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  toResponse(): RawResponse {
    return jsonResponse({ error: this.code, error_description: this.message }, STATUSES[this.code] ?? 400);
  }
}

/** JSON that no cache stores. */
export function jsonResponse(body: object, status = 200, headers: Record<string, string> = {}): RawResponse {
  return new RawResponse("application/json; charset=utf-8", JSON.stringify(body), status, headers);
}

/** Runs a handler whose OAuthError becomes the response. */
export async function withOAuthErrors(run: () => Promise<RawResponse>): Promise<RawResponse> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof OAuthError) return error.toResponse();
    throw error;
  }
}
