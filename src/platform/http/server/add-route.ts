import { AsyncResource } from "node:async_hooks";
import { setMaxListeners } from "node:events";
import { Readable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import { isDatabaseUnavailable } from "../../db/database.ts";
import { type RequestScope, runInRequest } from "../../db/request-pool.ts";
import { GatewayError } from "../../gateway-error.ts";
import type { Log } from "../../log/log.ts";
import { traceParentOf } from "../../tracing/tracing.ts";
import { isEmptyBody } from "../body/add-body-parsers.ts";
import type { BodyMemoryBudget } from "../body/body-memory-budget.ts";
import { createUploadSpool, type UploadSpool } from "../body/upload-spool.ts";
import { type Authorise, type Caller, type Handler, type HandlerRequest, RawResponse } from "../handler.ts";
import { checkActs } from "../input/check-acts.ts";
import { createInputReader, readIdempotencyKey, sentFields } from "../input/read-input.ts";
import { nameFieldsAsSent } from "../input/resolve-aliases.ts";
import { overloadedError } from "../load-shedder.ts";
import type { InputOf, Route } from "../route.ts";
import { readDeviceCookie } from "../session-cookie.ts";
import type { HeavyRequests } from "./heavy-requests.ts";
import { identifyCaller, withoutCredentials } from "./identify-caller.ts";
import { createInProcessFetch } from "./in-process-fetch.ts";
import type { LongLivedResponses } from "./long-lived-responses.ts";
import { startRequestSpan } from "./request-span.ts";
import { createResponseSerializer } from "./response-serializer.ts";
import { whenClosed } from "./when-closed.ts";

/** Bodies of unauthenticated callers stay small. */
const PUBLIC_BODY_BYTES = 65_536;

/** Each name costs a lookup in the route's input. */
const PUBLIC_BODY_VALUES = 1_000;

interface BodyLimits {
  bodyLimitBytes: number;
  /** For routes that accept files; `bodyLimitBytes` if absent. */
  uploadLimitBytes?: number;
}

export interface AddRouteOptions extends BodyLimits {
  authorise: Authorise;
  log: Log;
  strictOutput: boolean;
  /** Holds uploaded files during their request. */
  scratchDir: string;
  longLivedResponses: LongLivedResponses;
  bodyMemory: BodyMemoryBudget;
  heavyRequests: HeavyRequests;
}

/** Registers one route of the contract. The caller is identified before any byte of the body is read. */
export function addRoute(
  app: FastifyInstance,
  name: string,
  route: Route,
  handler: Handler<Route>,
  options: AddRouteOptions,
): void {
  const [method = "", url = ""] = route.http.split(" ");
  const write = createResponseSerializer(name, route, options.strictOutput);
  const read = createInputReader(route);
  // Unlike a stream that is only one way to send a single result.
  const isStream = route.raw === "text/event-stream" && route.output.def.type === "never";
  app.route({
    method: method as HTTPMethods,
    url,
    exposeHeadRoute: method === "GET" && !isStream,
    bodyLimit: bodyLimitOf(route, options),
    config: {
      keepBytes: route.signed ?? false,
      takesForm: route.takesForm ?? false,
      errorFormat: route.errorFormat,
      errorStatuses: route.errorStatuses,
      isNeverShed: route.isExemptFromLimits ?? false,
      ...bodyLimitValuesOf(route),
    },
    onRequest: async (request, reply) => {
      await identifyRequest(route, request, reply, options.authorise);
      startRequestSpan(request, reply);
    },
    handler: (request, reply) => {
      const signal = signalOf(reply);
      return runInRequest(scopeOf(route, request, signal), async () => {
        const isHeavy = route.heavy === true || (route.heavy === "search" && isSearch(request));
        const heavy = isHeavy ? await options.heavyRequests.begin(accountOf(request), signal) : undefined;
        try {
          const result = await respond(request, reply, signal);
          if (!(result instanceof RawResponse)) return sendJson(reply, write(result));
          const { body } = result;
          return sendRaw(reply, result, heavy && body instanceof Readable ? heavy.streamInTurns(body) : body);
        } finally {
          heavy?.end();
        }
      });
    },
  });

  async function respond(request: FastifyRequest, reply: FastifyReply, signal: AbortSignal) {
    const work = async (spool: UploadSpool) => {
      const readBody = () => read(request, spool);
      if (request.databaseError) throw await refuseUnavailable(route, request, readBody);
      return handler(await toHandlerRequest(route, request, readBody, { ...options, signal }));
    };
    const result = await options.bodyMemory
      .runReserved(request, () => withSpool(options.scratchDir, work))
      .catch((error) => {
        throw explainRefusal(route, request, error);
      });
    if (isStream && result instanceof RawResponse && result.body instanceof Readable) {
      const check = () => requireSameReach(route, request, reply, options.authorise);
      options.longLivedResponses.add(result.body, check);
    }
    return result;
  }
}

/** Aborts when the client disconnects. */
function signalOf(reply: FastifyReply): AbortSignal {
  const disconnected = new AbortController();
  // Each running statement listens.
  setMaxListeners(0, disconnected.signal);
  whenClosed(reply.raw, (isSent) => {
    if (!isSent) disconnected.abort();
  });
  return disconnected.signal;
}

const SEARCH_FIELDS = ["q", "search", "query", "text"];

function isSearch({ query }: FastifyRequest): boolean {
  return SEARCH_FIELDS.some((field) => Object.hasOwn(query as object, field));
}

/** A stream sends what its caller reached when it began. If that changes, the stream ends, and the client connects anew. */
async function requireSameReach(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  authorise: Authorise,
): Promise<void> {
  const now = await identifyCaller(route, request, reply, authorise, { isRecheck: true });
  if (isDeepStrictEqual(instancesOf(now), instancesOf(request.caller))) return;
  throw new GatewayError("FORBIDDEN", "The instances that the caller reaches have changed.");
}

/** The only instances that a caller reaches; null: no such limit. */
function instancesOf(caller: Caller | undefined): readonly number[] | null {
  return caller && "instance_ids" in caller ? caller.instance_ids : null;
}

function accountOf({ caller }: FastifyRequest): number | undefined {
  return caller && "account_id" in caller ? caller.account_id : undefined;
}

/** What writes goes on after its client has left. */
function scopeOf(route: Route, request: FastifyRequest, signal: AbortSignal): RequestScope {
  const onlyReads = route.http.startsWith("GET ") || route.heavy !== undefined;
  return { account_id: accountOf(request), ...(onlyReads && { signal }) };
}

/** Deletes a request's files when the request ends. */
async function withSpool<T>(directory: string, work: (spool: UploadSpool) => Promise<T>): Promise<T> {
  const spool = createUploadSpool(directory);
  try {
    return await work(spool);
  } finally {
    await spool.discard();
  }
}

/** Names the fields of an error as the caller sent them. */
function explainRefusal(route: Route, request: FastifyRequest, error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.code !== "VALIDATION_ERROR") return error;
  const { query, body, params } = request;
  const parts = { query: query as Record<string, unknown>, body };
  const refusal = nameFieldsAsSent(error, route, sentFields(route, parts));
  const isOfPath = Object.hasOwn(params as object, firstField(refusal));
  const hasBody = !/^(GET|DELETE) /.test(route.http);
  if (!hasBody || isOfPath || !isEmptyBody(request) || Object.keys(parts.query).length > 0) return refusal;
  const { details, cause } = refusal;
  const sentence = `The request has no body. ${refusal.message}`;
  return new GatewayError("VALIDATION_ERROR", sentence, { ...(details && { details }), cause });
}

function firstField({ details }: GatewayError): string {
  return details?.fields?.[0]?.field ?? "";
}

type ReadBody = () => Promise<InputOf<Route>>;

/**
 * While the database is unavailable no caller can be identified. A route that can return 202 then reads its
 * body to choose its error.
 */
async function identifyRequest(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  authorise: Authorise,
): Promise<void> {
  try {
    request.caller = await identifyCaller(route, request, reply, authorise);
  } catch (error) {
    if (!route.accepted?.isRequested || !isDatabaseUnavailable(error)) throw error;
    request.databaseError = error;
  }
}

async function refuseUnavailable(route: Route, request: FastifyRequest, read: ReadBody): Promise<unknown> {
  const cause = request.databaseError;
  const input = await read().catch(() => undefined);
  if (!input || !route.accepted?.isRequested?.(input as Record<string, unknown>)) return cause;
  const sentence = "The queue cannot be reached now. Try again in a moment.";
  return new GatewayError("QUEUE_UNAVAILABLE", sentence, { cause, retryAfterSeconds: 2 });
}

async function toHandlerRequest(
  route: Route,
  request: FastifyRequest,
  read: ReadBody,
  { log, bodyMemory, signal }: Pick<AddRouteOptions, "log" | "bodyMemory"> & { signal: AbortSignal },
): Promise<HandlerRequest<Route>> {
  if (!request.caller) throw new Error("The caller of a request must be known before its handler runs.");
  const idempotencyKey = route.idempotent
    ? readIdempotencyKey(request.headers["idempotency-key"])
    : undefined;
  const input = await read();
  checkActs(route, request.caller, input);
  return {
    input,
    caller: request.caller,
    request_id: request.id,
    ip: request.ip,
    idempotencyKey,
    trace: traceParentOf(request.span),
    bytes: request.bytes,
    reserveMemory: (bytes) => {
      if (!bodyMemory.reserveMore(request, bytes))
        throw overloadedError("Too many large files are under way. Try again soon.");
    },
    signal,
    deviceToken: readDeviceCookie(request.raw.rawHeaders),
    headers: withoutCredentials(request.headers),
    fetchAsCaller: createInProcessFetch(request.server, request),
    get log() {
      return log.child({ request_id: request.id });
    },
  };
}

function sendJson(
  reply: FastifyReply,
  { status, headers, body }: ReturnType<ReturnType<typeof createResponseSerializer>>,
): FastifyReply {
  return reply.code(status).headers(headers).type("application/json; charset=utf-8").send(body);
}

function sendRaw(
  reply: FastifyReply,
  { type, status, headers }: RawResponse,
  body: RawResponse["body"],
): FastifyReply {
  // The pieces are read when the client takes them, but for this request.
  if (body instanceof Readable) body._read = AsyncResource.bind(body._read);
  return reply.code(status).type(type).headers(headers).send(body);
}

/** The most bytes in the body of a request to this route. */
function bodyLimitOf(route: Route, { bodyLimitBytes, uploadLimitBytes }: BodyLimits): number {
  const { access, upload } = route;
  if (route.bodyLimitBytes !== undefined) return route.bodyLimitBytes;
  if (access === "public") return Math.min(PUBLIC_BODY_BYTES, bodyLimitBytes);
  return upload === undefined ? bodyLimitBytes : (uploadLimitBytes ?? bodyLimitBytes);
}

/** The most names and values in the body of a request to this route; absent: no limit. */
function bodyLimitValuesOf({ access, pathToken, bodyLimitValues }: Route): {
  bodyLimitValues?: number;
} {
  if (bodyLimitValues !== undefined) return { bodyLimitValues };
  return access === "public" && !pathToken ? { bodyLimitValues: PUBLIC_BODY_VALUES } : {};
}
