import { GatewayError } from "../../../platform/gateway-error.ts";
import type { AuthoriseRequest } from "../../../platform/http/handler.ts";

/** The same refusal, with the address where an assistant learns how to get a token (RFC 9728). */
export function challengeAssistant(
  { code, message, details }: GatewayError,
  resourceMetadataUrl: string,
  { credential }: Pick<AuthoriseRequest, "credential">,
): GatewayError {
  const error = credential === undefined ? "" : ', error="invalid_token"';
  const challenge = `Bearer resource_metadata="${resourceMetadataUrl}"${error}`;
  return new GatewayError(code, message, {
    ...(details && { details }),
    headers: { "www-authenticate": challenge },
  });
}
