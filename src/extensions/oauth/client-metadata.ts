import { z } from "zod";
import { boundedText } from "../../platform/text/bounded-text.ts";
import { OAuthError } from "./oauth-error.ts";
import { findRedirectUriProblem } from "./redirect-uris.ts";

const MOST_REDIRECT_URIS = 20;
const MOST_NAME_CHARACTERS = 80;
const UNNAMED = "An application without a name";
/** Control characters, also those that reverse the direction of text, and line breaks. */
const UNSHOWABLE = /[\p{C}\p{Z}]+/gu;

const clientMetadata = z.object({
  redirect_uris: z.array(boundedText(2_000)).min(1).max(MOST_REDIRECT_URIS),
  client_name: boundedText(500).optional(),
  grant_types: z.array(boundedText(100)).max(20).optional(),
  response_types: z.array(boundedText(100)).max(20).optional(),
});

/** What a client says about itself. */
export interface ClientMetadata {
  /** Cleaned; still not to be trusted. */
  name: string;
  redirect_uris: string[];
}

/** Reads the metadata of a registration or a metadata document. Throws invalid_client_metadata or invalid_redirect_uri. */
export function parseClientMetadata(value: unknown): ClientMetadata {
  const parsed = clientMetadata.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = String(issue?.path[0] ?? "The metadata");
    throw new OAuthError("invalid_client_metadata", `${field} is missing or not as RFC 7591 defines it.`);
  }
  const { redirect_uris, client_name = "", grant_types, response_types } = parsed.data;
  if (grant_types && !grant_types.includes("authorization_code"))
    throw new OAuthError("invalid_client_metadata", "grant_types must contain authorization_code.");
  if (response_types && !response_types.includes("code"))
    throw new OAuthError("invalid_client_metadata", "response_types must contain code.");
  for (const uri of redirect_uris) {
    const problem = findRedirectUriProblem(uri);
    if (problem) throw new OAuthError("invalid_redirect_uri", `A redirect address ${problem}.`);
  }
  return { name: toShownName(client_name), redirect_uris };
}

function toShownName(name: string): string {
  const shown = [...name.replace(UNSHOWABLE, " ").trim()].slice(0, MOST_NAME_CHARACTERS).join("");
  return shown === "" ? UNNAMED : shown;
}
