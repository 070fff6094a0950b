import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../../gateway-error.ts";
import type { Log } from "../../log/log.ts";
import { createRateLimitedWarnings } from "../../log/rate-limited-warnings.ts";
import { anonymiseIp } from "../../outgoing/ip-address.ts";
import type { Caller, CompletedRequest } from "../handler.ts";
import { type LoadShedder, overloadedError } from "../load-shedder.ts";
import type { Route } from "../route.ts";
import { valuesOf } from "../session-cookie.ts";
import { addCors } from "./cors.ts";
import { traceIdOf } from "./request-span.ts";
import { errorBody, oauthErrorBody } from "./response-serializer.ts";
import { toGatewayError } from "./to-gateway-error.ts";
import { whenClosed } from "./when-closed.ts";

/** First path segments of Evolution API, uazapi and WAHA that Waygate does not use. */
const OTHER_GATEWAYS =
  /^\/(api\/)?(call|chat|contacts?|group|groups|instance|label|labels|message|profile|proxy|send|sender|sessions?|settings|webhook|(send|start|stop)[A-Z]\w{0,30}|reply|reaction)(\/|$)/;

declare module "fastify" {
  interface FastifyRequest {
    /** The caller, once known. */
    caller: Caller | undefined;
    /** The database error of the caller's check, on a route whose body decides the response. */
    databaseError: unknown;
    /** Code of the error, if there is one. */
    refusal: string | undefined;
    /** The raw JSON body, on routes that need it. */
    bytes: Buffer | undefined;
  }
  interface FastifyContextConfig {
    keepBytes?: boolean;
    takesForm?: boolean;
    errorFormat?: "oauth" | undefined;
    errorStatuses?: Route["errorStatuses"] | undefined;
    bodyLimitValues?: number;
    /** Served under any load: health checks. */
    isNeverShed?: boolean;
    /** Whether this request has a credential that admits it under any load, such as the metrics token. */
    isExpected?: (request: FastifyRequest) => boolean;
  }
}

const GONE = 499;
const NOT_BY_THE_CALLER = new Set(["INTERNAL", "UNAVAILABLE", "STORAGE_FULL"]);

export interface HttpHooksOptions {
  log: Log;
  onResponse: (completed: CompletedRequest) => void;
  allowedMethods: (path: string) => string[];
  isClosing: () => boolean;
  /** Origins whose pages may call the gateway. */
  corsOrigins: readonly string[];
  loadShedder: LoadShedder;
  /** HTML for a browser that requests a missing page; if absent, it gets the JSON error. */
  notFoundPage?: string | undefined;
  /** Clients reach the gateway over https: browsers shall not use plain HTTP. */
  isHttps?: boolean | undefined;
}

/** A rejected credential for the operator's attention; `ip` is anonymised. */
interface RejectedRequest {
  ip: string | undefined;
  method: string;
  route: string;
  status: number;
  code: string | undefined;
  request_id: string;
}

/** Applies to every request: its id, the security headers, one log line, errors in one shape. */
export function addHttpHooks(app: FastifyInstance, options: HttpHooksOptions): void {
  app.decorateRequest("caller", undefined);
  app.decorateRequest("databaseError", undefined);
  app.decorateRequest("refusal", undefined);
  app.decorateRequest("bytes", undefined);
  app.decorateRequest("span", undefined);
  const logRefusal = createRateLimitedWarnings<RejectedRequest>({
    log: options.log,
    message: "a request was rejected",
    sourceOf: ({ ip }) => String(ip),
  });
  const answerPreflight = addCors(app, options.corsOrigins, options.allowedMethods);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(commonHeaders(request.id, options));
    reportResponse(request, reply, options, logRefusal);
    requireOneHost(request);
    if (options.isClosing())
      throw new GatewayError("UNAVAILABLE", "The gateway is stopping. Send the request again in a moment.", {
        retryAfterSeconds: 5,
      });
    if (answerPreflight(request, reply)) return reply;
    if (request.is404) refuseUnknown(request, reply, options.allowedMethods);
    const { isNeverShed, isExpected } = request.routeOptions.config;
    if (!isNeverShed && !isExpected?.(request)) requireCapacity(options.loadShedder);
  });
  app.addHook("onSend", async (_request, reply) => {
    if (options.isClosing()) reply.header("connection", "close");
  });
  app.setErrorHandler((error, request, reply) => sendErrorResponse(error, request, reply, options));
  app.setNotFoundHandler((request, reply) => refuseUnknown(request, reply, options.allowedMethods));
}

function requireCapacity(loadShedder: LoadShedder): void {
  if (!loadShedder.admits()) throw overloadedError("The gateway is overloaded. Try again in a moment.");
}

/** A proxy and the gateway could read different ones (RFC 9112, 3.2). */
function requireOneHost({ raw }: FastifyRequest): void {
  if (valuesOf(raw.rawHeaders, "host").length > 1)
    throw new GatewayError("VALIDATION_ERROR", "The request has several Host headers. Send one.");
}

/** A year, with the subdomains, as ASVS 5.0 requires (3.4.1). */
const HTTPS_ONLY = { "strict-transport-security": "max-age=31536000; includeSubDomains" };

/** For responses that are no page: a browser that opens one loads, runs and frames nothing. Pages set their own policy. */
const NO_PAGE = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The headers of every response. */
export function commonHeaders(
  requestId: string,
  { isHttps }: Pick<HttpHooksOptions, "isHttps">,
): Record<string, string> {
  return {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": NO_PAGE,
    "cache-control": "no-store",
    ...(isHttps && HTTPS_ONLY),
  };
}

function reportResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  { log, onResponse }: HttpHooksOptions,
  logRefusal: (rejected: RejectedRequest) => void,
): void {
  const startedAt = performance.now();
  whenClosed(reply.raw, (isSent) => {
    const { method, caller, id: request_id } = request;
    const route = request.routeOptions.url ?? "unknown";
    const status = isSent ? reply.statusCode : GONE;
    const duration_ms = Math.round((performance.now() - startedAt) * 10) / 10;
    const account_id = caller && "account_id" in caller ? caller.account_id : undefined;
    const { ip, refusal: code } = request;
    const entry = { method, route, status, code, request_id, account_id, ip: anonymiseIp(ip) };
    log.info({ ...entry, ...traceIdOf(request), duration_ms }, "request");
    if (isRefusedCaller(status, caller)) logRefusal(entry);
    const instance_id = instanceOf(request, route);
    onResponse({
      method,
      route,
      status,
      seconds: duration_ms / 1000,
      request_id,
      ip,
      caller,
      code,
      instance_id,
    });
  });
}

/** The caller is unknown, or the claimed caller may not do this here. */
function isRefusedCaller(status: number, caller: Caller | undefined): boolean {
  return (status === 401 || status === 403) && (caller === undefined || caller.kind === "public");
}

const INSTANCE_ROUTE = "/api/v1/instances/:id";

function instanceOf({ params }: FastifyRequest, route: string): number | undefined {
  if (!route.startsWith(INSTANCE_ROUTE)) return undefined;
  const id = Number((params as { id?: string }).id);
  return Number.isSafeInteger(id) ? id : undefined;
}

function refuseUnknown(
  request: FastifyRequest,
  reply: FastifyReply,
  allowedMethods: HttpHooksOptions["allowedMethods"],
): never {
  const [path = ""] = request.url.split("?");
  const allowed = allowedMethods(path);
  if (allowed.length === 0) throw new GatewayError("ROUTE_NOT_FOUND", unknownRouteMessage(path));
  reply.header("allow", allowed.join(", "));
  throw new GatewayError("METHOD_NOT_ALLOWED", `This route accepts only ${allowed.join(", ")}.`);
}

/** The HTTP error hook: turns any thrown value into the envelope. */
export function sendErrorResponse(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { log, notFoundPage, isHttps }: Pick<HttpHooksOptions, "log" | "notFoundPage" | "isHttps">,
): void {
  const error = isCutOff(request) ? cutOff(thrown) : toGatewayError(thrown);
  request.refusal = error.code;
  // An error without a cause is intended; logging each one would add to an overload.
  if (NOT_BY_THE_CALLER.has(error.code) && (error.code !== "UNAVAILABLE" || error.cause !== undefined)) {
    const fields = { err: error.cause ?? error, request_id: request.id, route: request.routeOptions?.url };
    if (error.code === "UNAVAILABLE") log.warn(fields, error.message);
    else log.error(fields, error.message);
  }
  reply.headers(commonHeaders(request.id, { isHttps }));
  if (error.retryAfterSeconds !== undefined) {
    reply.header("retry-after", String(Math.max(1, Math.ceil(error.retryAfterSeconds))));
  }
  reply.headers(error.headers ?? {});
  if (notFoundPage !== undefined && wantsPage(error, request)) {
    sendNotFoundPage(reply, notFoundPage);
    return;
  }
  const { errorFormat, errorStatuses } = request.routeOptions?.config ?? {};
  const status = errorStatuses?.[error.code] ?? error.status;
  const { type, body } =
    errorFormat === "oauth"
      ? oauthErrorBody(error)
      : errorBody(error, request.id, request.headers.accept, status);
  reply.code(status).type(type).send(body);
}

const NO_SCRIPT = `${NO_PAGE}; style-src 'self'; img-src 'self'`;

/** Whether a browser requests a missing page; the API itself always returns JSON. */
function wantsPage({ code }: GatewayError, { method, url, headers }: FastifyRequest): boolean {
  const isPage = code === "ROUTE_NOT_FOUND" || (code === "NOT_FOUND" && url.startsWith("/docs/"));
  const isApi = url.startsWith("/api/");
  return isPage && !isApi && method === "GET" && (headers.accept ?? "").includes("text/html");
}

function sendNotFoundPage(reply: FastifyReply, page: string): void {
  reply.header("content-security-policy", NO_SCRIPT);
  reply.code(404).type("text/html; charset=utf-8").send(page);
}

function isCutOff({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete;
}

function cutOff(cause: unknown): GatewayError {
  return new GatewayError("VALIDATION_ERROR", "The body did not arrive completely. Send the request again.", {
    cause,
  });
}

/** The error message for an unknown route, by its path. */
export function unknownRouteMessage(path: string): string {
  if (path === "/metrics") return "There is no such route while WAYGATE_METRICS_TOKEN is not set.";
  const sentence = "There is no such route. /docs lists every route.";
  if (!OTHER_GATEWAYS.test(path)) return sentence;
  return `${sentence} /docs/waygate/migration shows what the routes of other gateways are called here.`;
}
