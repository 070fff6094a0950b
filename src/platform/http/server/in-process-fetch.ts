import type { FastifyInstance, FastifyRequest } from "fastify";
import { traceParentOf } from "../../tracing/tracing.ts";
import { credentialHeaders } from "./identify-caller.ts";
import { markInProcess } from "./mark-in-process.ts";

/** Responses that have no body by definition. */
const NO_BODY = new Set([204, 205, 304]);

/**
 * Like `fetch`, for the routes of this process: with the credential, the address and the id of the given request, and
 * through every hook, so that access, limits and logs are those of a request over the network. The host of the
 * URL does not matter. Bodies are texts.
 */
export function createInProcessFetch(app: FastifyInstance, request: FastifyRequest): typeof fetch {
  return async (input, { method = "GET", headers, body, signal } = {}) => {
    const { inject } = await import("light-my-request");
    const { pathname, search } = new URL(String(input));
    const serve: Parameters<typeof inject>[0] = (req, res) => {
      markInProcess(req);
      app.routing(req, res);
    };
    const sent = inject(serve, {
      method: method as "GET",
      url: `${pathname}${search}`,
      headers: {
        ...Object.fromEntries(new Headers(headers)),
        ...credentialHeaders(request.raw.rawHeaders),
        "x-request-id": request.id,
        ...(request.span && { traceparent: traceParentOf(request.span) }),
      },
      remoteAddress: request.ip,
      ...(typeof body === "string" && { payload: body }),
      ...(signal && { signal }),
    });
    const { statusCode, headers: received, rawPayload } = await sent;
    return new Response(NO_BODY.has(statusCode) ? null : new Uint8Array(rawPayload), {
      status: statusCode,
      headers: Object.entries(received).flatMap(([name, values]) =>
        [values].flat().map((value): [string, string] => [name, String(value)]),
      ),
    });
  };
}
