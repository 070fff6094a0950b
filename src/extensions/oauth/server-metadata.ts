import { ASSISTANT_SCOPES } from "../../platform/http/route.ts";

/** The addresses of the authorization server and of what it protects. */
export interface OAuthAddresses {
  /** `WAYGATE_BASE_URL` without a final slash. */
  issuer: string;
  /** The address of /mcp. */
  resource: string;
  /** The document that a refusal of /mcp names. */
  resourceMetadata: string;
}

export function oauthAddresses(baseUrl: string): OAuthAddresses {
  const issuer = baseUrl.replace(/\/$/, "");
  return {
    issuer,
    resource: `${issuer}/mcp`,
    resourceMetadata: `${issuer}/.well-known/oauth-protected-resource/mcp`,
  };
}

/** RFC 8414. */
export function authorizationServerMetadata({ issuer }: OAuthAddresses) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    scopes_supported: ASSISTANT_SCOPES,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${issuer}/docs/waygate/assistant-tools`,
  };
}

/** RFC 9728. */
export function protectedResourceMetadata({ issuer, resource }: OAuthAddresses) {
  return {
    resource,
    authorization_servers: [issuer],
    scopes_supported: ASSISTANT_SCOPES,
    bearer_methods_supported: ["header"],
    resource_name: "Waygate",
    resource_documentation: `${issuer}/docs/waygate/assistant-tools`,
  };
}
