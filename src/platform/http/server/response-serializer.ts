import { STATUS_CODES } from "node:http";
import type { z } from "zod";
import type { GatewayError } from "../../gateway-error.ts";
import { AcceptedResponse, OkResponse, type OkResponseOptions, type RawResponse } from "../handler.ts";
import type { Route } from "../route.ts";

export interface SerializedResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

interface Shape {
  readonly output: z.ZodType;
  readonly beside?: z.ZodObject;
}

/**
 * Serialises the responses of one route through the contract's schema, so that no undeclared field leaves the
 * gateway. A mismatch throws a plain Error. `strict` rejects undeclared fields beside `data` instead of
 * dropping them.
 */
export function createResponseSerializer(name: string, route: Route, strict: boolean) {
  return (result: Exclude<unknown, RawResponse>): SerializedResponse => {
    const isAccepted = result instanceof AcceptedResponse;
    const { data, options } =
      isAccepted || result instanceof OkResponse
        ? result
        : { data: result, options: {} satisfies OkResponseOptions };
    const shape: Shape | undefined = isAccepted ? route.accepted : route;
    if (!shape) throw new Error(`Route ${name} returns 202, but its contract declares no such response.`);
    const output = parseOutput(name, shape.output, data);
    const body = route.bare
      ? output
      : { ...envelope(route, options), data: output, ...beside(name, shape, options, strict) };
    const status = options.status ?? (isAccepted ? 202 : 200);
    return { status, headers: options.headers ?? {}, body: JSON.stringify(body) };
  };
}

function envelope(route: Route, options: OkResponseOptions) {
  return { success: true, message: options.message ?? route.message ?? "OK" };
}

function beside(
  name: string,
  shape: Shape,
  options: OkResponseOptions,
  strict: boolean,
): Record<string, unknown> {
  if (shape.beside) {
    return parseOutput(name, strict ? shape.beside.strict() : shape.beside, options.beside ?? {}) as Record<
      string,
      unknown
    >;
  }
  if (strict && options.beside) throw new Error(`Route ${name} declares nothing beside its data.`);
  return {};
}

function parseOutput(name: string, shape: z.ZodType, value: unknown): unknown {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Error(`The response of route ${name} does not match its contract: ${parsed.error.message}`);
}

/** The body of an error; as RFC 9457 if the caller requests `application/problem+json`. */
export function errorBody(
  error: GatewayError,
  requestId: string,
  accept = "",
  status = error.status,
): { type: string; body: string } {
  const { code, message, details } = error;
  if (accept.includes("application/problem+json")) {
    const problem = { type: "about:blank", title: STATUS_CODES[status], status, detail: message };
    return {
      type: "application/problem+json; charset=utf-8",
      body: JSON.stringify({ ...problem, code, details, request_id: requestId }),
    };
  }
  return {
    type: "application/json; charset=utf-8",
    body: JSON.stringify({ success: false, code, message, error: message, details, request_id: requestId }),
  };
}

/** The same for clients of OAuth (RFC 6749). */
export function oauthErrorBody({ message, status }: GatewayError): { type: string; body: string } {
  const isPassing = status === 429 || status === 503;
  const error = isPassing ? "temporarily_unavailable" : status >= 500 ? "server_error" : "invalid_request";
  const body = JSON.stringify({ error, error_description: message });
  return { type: "application/json; charset=utf-8", body };
}
