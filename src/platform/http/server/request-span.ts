import type { FastifyReply, FastifyRequest } from "fastify";
import { readTraceParent } from "../../tracing/trace-parent.ts";
import {
  failSpan,
  type NewSpan,
  type Span,
  SpanKind,
  startSpan,
  tracingMode,
} from "../../tracing/tracing.ts";
import { whenClosed } from "./when-closed.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set while tracing is on, once the caller is known. */
    span: Span | undefined;
  }
}

/**
 * Starts the span of a request that has passed the access check; it ends with the response. Refused callers and
 * health checks cause no span. Without a credential, a caller cannot choose the trace.
 */
export function startRequestSpan(request: FastifyRequest, reply: FastifyReply): void {
  if (tracingMode() === "off" || !request.caller || request.routeOptions.config.isNeverShed) return;
  const { method, routeOptions, protocol } = request;
  const route = routeOptions.url ?? "unknown";
  const span = startSpan(`${method} ${route}`, {
    ...placeOf(request),
    kind: SpanKind.SERVER,
    attributes: { "http.request.method": method, "http.route": route, "url.scheme": protocol },
  });
  if (!span) return;
  request.span = span;
  whenClosed(reply.raw, (isSent) => {
    if (isSent) span.setAttribute("http.response.status_code", reply.statusCode);
    if (!isSent) failSpan(span, "CLIENT_CLOSED_REQUEST");
    else if (reply.statusCode >= 500) failSpan(span, request.refusal ?? String(reply.statusCode));
    span.end();
  });
}

/** Only `traceparent` is read: `tracestate` and `baggage` of callers are ignored. */
function placeOf({ caller, headers }: FastifyRequest): Pick<NewSpan, "caller" | "links"> {
  const context = caller?.kind === "public" ? undefined : readTraceParent(headers.traceparent);
  if (!context) return {};
  return tracingMode() === "continue" ? { caller: context } : { links: [{ context }] };
}

/** The trace of a request, as a log line names it. */
export function traceIdOf({ span }: Pick<FastifyRequest, "span">): { trace_id: string } | undefined {
  return span && { trace_id: span.spanContext().traceId };
}
