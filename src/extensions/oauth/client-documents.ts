import { z } from "zod";
import type { FetchOutcome, SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import { boundedText } from "../../platform/text/bounded-text.ts";
import { createTtlCache } from "../../platform/ttl-cache.ts";
import { type ClientMetadata, parseClientMetadata } from "./client-metadata.ts";
import { OAuthError } from "./oauth-error.ts";

const MOST_BYTES = 10_240;
const TIMEOUT_MS = 5_000;
const CACHED_MS = 600_000;
const MOST_CACHED = 500;
const MOST_URL_CHARACTERS = 500;
const CLIENT_URL = /^https:\/\/[a-z0-9.-]+(?::\d{1,5})?\/[\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/;
const JSON_TYPE = /^application\/(?:[a-z0-9.-]{1,60}\+)?json(?:;|$)/i;

const clientDocument = z.object({
  client_id: boundedText(MOST_URL_CHARACTERS),
  token_endpoint_auth_method: boundedText(100).optional(),
  client_secret: z.never().optional(),
});

/** Reads client id metadata documents: the client id is the URL of a document about the client. */
export interface ClientDocuments {
  /** Throws OAuthError if there is no valid document at the URL. */
  get(clientId: string): Promise<ClientMetadata>;
}

/** Whether a client id is the URL of a document, in the one spelling that a comparison of texts needs. */
export function isClientUrl(clientId: string): boolean {
  if (clientId.length > MOST_URL_CHARACTERS || !CLIENT_URL.test(clientId)) return false;
  // The parser removes dot segments and lowers the host, so a difference reveals them.
  return URL.canParse(clientId) && new URL(clientId).href === clientId;
}

/** A document is cached for ten minutes; a failure is not. */
export function createClientDocuments(outgoing: Pick<SafeFetch, "fetch">): ClientDocuments {
  const cache = createTtlCache({
    max: MOST_CACHED,
    ttlMs: CACHED_MS,
    load: async (url) => {
      const outcome = await outgoing.fetch({
        url,
        method: "GET",
        headers: { accept: "application/json" },
        totalMs: TIMEOUT_MS,
        maxBytes: MOST_BYTES,
        // Anybody can name an address here, so only public ones are reached.
        policyKey: "network",
      });
      return readDocument(url, outcome);
    },
  });
  return {
    async get(clientId) {
      const found = await cache.get(clientId);
      if (!found) throw noDocument("it cannot be read");
      return found;
    },
  };
}

function readDocument(url: string, outcome: FetchOutcome): ClientMetadata {
  if (outcome.outcome === "failed") throw noDocument("its server cannot be reached");
  const { status, headers, body, truncated } = outcome;
  if (status !== 200) throw noDocument(`its server returns the status ${status}`);
  if (!JSON_TYPE.test(headers["content-type"] ?? "")) throw noDocument("it is not JSON");
  if (truncated) throw noDocument(`it is longer than ${MOST_BYTES} bytes, or did not arrive completely`);
  const value = parseJson(body);
  const parsed = clientDocument.safeParse(value);
  if (!parsed.success) throw noDocument("it has no valid client_id, or it has a secret");
  if (parsed.data.client_id !== url) throw noDocument("it names another client_id");
  const { token_endpoint_auth_method: method = "none" } = parsed.data;
  if (method !== "none") throw noDocument("its token_endpoint_auth_method is not none");
  return parseClientMetadata(value);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw noDocument("it is not JSON");
  }
}

function noDocument(why: string): OAuthError {
  return new OAuthError("invalid_client", `The document of the client cannot be used: ${why}.`);
}
