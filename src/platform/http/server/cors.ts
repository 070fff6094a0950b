import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** A browser asks again after this time. */
const MAX_AGE_SECONDS = 600;
/** What a page may send: credentials of the API, but neither the panel's header nor a cookie. */
const REQUEST_HEADERS = [
  "accept",
  "apikey",
  "authorization",
  "content-type",
  "idempotency-key",
  "if-none-match",
  "if-range",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  "range",
  "token",
  "x-api-key",
  "x-auth-token",
  "x-request-id",
].join(", ");
/** What a page may read beside the body and the headers that every page may read. */
const RESPONSE_HEADERS = [
  "accept-ranges",
  "content-disposition",
  "content-range",
  "etag",
  "idempotent-replayed",
  "mcp-session-id",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-id",
].join(", ");

type AnswerPreflight = (request: FastifyRequest, reply: FastifyReply) => boolean;

/**
 * Lets pages of these origins call the gateway with a credential of their own. No cookie counts for them: the response
 * does not allow credentials. Returns a function that answers a preflight request, and tells whether it has.
 */
export function addCors(
  app: FastifyInstance,
  origins: readonly string[],
  allowedMethods: (path: string) => string[],
): AnswerPreflight {
  if (origins.length === 0) return () => false;
  const allowed = new Set(origins);
  app.addHook("onSend", async (_request, reply) => {
    const vary = reply.getHeader("vary");
    reply.header("vary", vary === undefined ? "origin" : `${vary}, origin`);
  });
  return (request, reply) => {
    const { origin, "access-control-request-method": requested } = request.headers;
    if (origin === undefined || !allowed.has(origin)) return false;
    reply.headers({
      "access-control-allow-origin": origin,
      "access-control-expose-headers": RESPONSE_HEADERS,
    });
    if (request.method !== "OPTIONS" || requested === undefined) return false;
    const [path = ""] = request.url.split("?");
    reply
      .code(204)
      .headers({
        "access-control-allow-methods": allowedMethods(path).join(", "),
        "access-control-allow-headers": REQUEST_HEADERS,
        "access-control-max-age": String(MAX_AGE_SECONDS),
      })
      .send();
    return true;
  };
}
