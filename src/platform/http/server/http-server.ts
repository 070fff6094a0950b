import { type Server, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import Fastify, {
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyRequest,
  type RawServerDefault,
} from "fastify";
import { GatewayError } from "../../gateway-error.ts";
import type { Log } from "../../log/log.ts";
import type { Metrics } from "../../log/metrics.ts";
import {
  addNodeRpcRoute,
  type CountUnauthenticated,
  type NodeRpcRouteOptions,
} from "../../nodes/add-node-rpc-route.ts";
import { ulid } from "../../ulid.ts";
import { addBodyMemoryLimit, addBodyParsers } from "../body/add-body-parsers.ts";
import { BodyMemoryBudget } from "../body/body-memory-budget.ts";
import { limitPendingBodies } from "../body/pending-bodies.ts";
import type { Authorise, CompletedRequest, Handler, Handlers } from "../handler.ts";
import { createLoadShedder, type LoadGauge } from "../load-shedder.ts";
import type { Contract, Route } from "../route.ts";
import { addFileRoute, type FileRoute } from "./add-file-route.ts";
import { addHttpHooks, commonHeaders, sendErrorResponse } from "./add-http-hooks.ts";
import { addRoute } from "./add-route.ts";
import { HeavyRequests } from "./heavy-requests.ts";
import { readCredential } from "./identify-caller.ts";
import { createLongLivedResponses } from "./long-lived-responses.ts";
import { errorBody } from "./response-serializer.ts";
import { toGatewayError } from "./to-gateway-error.ts";

export interface Readiness {
  /** Whether load balancers should send requests to this process. */
  ready: boolean;
}

const REQUEST_ID = /^[A-Za-z0-9_.:-]{1,128}$/;

export interface HttpServerOptions<C extends Contract> {
  contract: C;
  handlers: Handlers<C>;
  authorise: Authorise;
  log: Log;
  metrics?: Metrics;
  /** Throws if a response has undeclared fields beside `data`, instead of dropping them. */
  strictOutput: boolean;
  bodyLimitBytes: number;
  /** Body limit of routes that take a file, in a form or as base64; `bodyLimitBytes` if absent. */
  uploadLimitBytes?: number;
  /** Directory for uploaded files during their request; the system's temporary directory if absent. */
  scratchDir?: string;
  /** The fastify setting: which proxies may set the client address. */
  trustProxy?: boolean | string | string[];
  /** Longest time for a request to arrive completely; 120 s if absent. */
  requestTimeoutMs?: number;
  readiness?: Readiness;
  /** Most concurrent requests, without long-lived responses; 0 or absent: no limit. */
  maxRequests?: number;
  /** Most bytes of bodies in memory, without forms and small bodies; absent: no limit. */
  maxBodyBytes?: number;
  /** Further load gauges. */
  loadGauges?: readonly LoadGauge[];
  /** What other nodes may request from this one; absent: nothing. */
  nodeRpc?: NodeRpcRouteOptions | undefined;
  /** Files outside of the contract, such as the web panel; absent: none. */
  files?: FileRoute | undefined;
  onResponse?: (completed: CompletedRequest) => void;
  /** HTML for a browser that requests a missing page; if absent, it gets the JSON error. */
  notFoundPage?: string;
  /** Clients reach the gateway over https: browsers shall not use plain HTTP. */
  isHttps?: boolean;
  /** Origins whose pages may call the gateway; absent: none. */
  corsOrigins?: readonly string[];
  /** Counts a wrong credential on a route outside the contract; throws RATE_LIMITED. */
  countUnauthenticated?: CountUnauthenticated;
}

export interface HttpServer {
  listen(host: string, port: number): Promise<{ url: string; address: string; port: number }>;
  inject: FastifyInstance["inject"];
  /** Accepts no more requests, ends long-lived responses, waits for the running ones. */
  close(): Promise<void>;
  readonly readiness: Readiness;
}

/** Creates the HTTP server of a contract: it parses, authorises, validates and responds. `listen` starts it. */
export async function createHttpServer<C extends Contract>(
  options: HttpServerOptions<C>,
): Promise<HttpServer> {
  const { contract, log, metrics, countUnauthenticated = () => {} } = options;
  const app = createFastify(options);
  const longLivedResponses = createLongLivedResponses();
  const connections = trackConnections(app.server);
  let isClosing = false;
  app.addHook("preClose", async () => {
    isClosing = true;
    longLivedResponses.closeAll();
    connections.closeUnused();
  });
  const pending = limitPendingBodies(app);
  const requests: LoadGauge = {
    label: "requests",
    limit: options.maxRequests ?? 0,
    // An arriving body is no work yet and has its own limit.
    read: () => connections.requests() - longLivedResponses.count() - pending.count(),
  };
  const heavyRequests = new HeavyRequests();
  const bodyMemory = new BodyMemoryBudget(options.maxBodyBytes ?? Number.POSITIVE_INFINITY);
  addBodyParsers(app);
  addBodyMemoryLimit(app, bodyMemory);
  addHttpHooks(app, {
    log,
    allowedMethods: createAllowedMethods(contract),
    corsOrigins: options.corsOrigins ?? [],
    isClosing: () => isClosing,
    notFoundPage: options.notFoundPage,
    isHttps: options.isHttps,
    loadShedder: createLoadShedder([requests, ...(options.loadGauges ?? [])], log),
    onResponse: (completed) => {
      metrics?.observe(completed);
      options.onResponse?.(completed);
    },
  });
  for (const [name, route] of Object.entries(contract)) {
    addRoute(app, name, route, handlerOf(options.handlers, name), {
      scratchDir: tmpdir(),
      ...options,
      longLivedResponses,
      bodyMemory,
      heavyRequests,
    });
  }
  if (options.files) addFileRoute(app, options.files);
  if (metrics?.isOpen) addMetricsRoute(app, metrics, countUnauthenticated);
  if (options.nodeRpc) await addNodeRpcRoute(app, options.nodeRpc, countUnauthenticated);
  await app.ready();
  return {
    listen: (host, port) => listen(app, host, port),
    inject: app.inject.bind(app),
    close: () => app.close(),
    readiness: options.readiness ?? { ready: false },
  };
}

/**
 * Before a path, from clients that append `/api/...` to an address that ends in a slash. Not before paths that a proxy may
 * keep to itself: its rule would not match.
 */
const DOUBLED_SLASHES = /^\/{2,}(?!\/|internal|metrics|api\/admin)/;

type FastifySettings = Pick<
  HttpServerOptions<Contract>,
  "log" | "bodyLimitBytes" | "trustProxy" | "requestTimeoutMs" | "notFoundPage" | "isHttps"
>;

function createFastify(settings: FastifySettings): FastifyInstance {
  const { bodyLimitBytes, trustProxy, requestTimeoutMs = 120_000 } = settings;
  const fastifyOptions: FastifyHttpOptions<RawServerDefault> = {
    logger: false,
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    trustProxy: trustProxy ?? false,
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: ({ headers }) => requestIdOf(headers["x-request-id"]),
    rewriteUrl: ({ url = "/" }) => url.replace(DOUBLED_SLASHES, "/"),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1024 },
    frameworkErrors: (error, request, reply) => sendErrorResponse(error, request, reply, settings),
    clientErrorHandler: (error, socket) => handleClientError(error, socket, settings),
    http: {
      maxHeaderSize: 16_384,
      headersTimeout: Math.min(20_000, requestTimeoutMs),
      connectionsCheckingInterval: Math.min(2000, requestTimeoutMs),
    },
  };
  return Fastify(fastifyOptions);
}

/** Handlers<C> already guarantees one handler per route, of the right type. */
function handlerOf<C extends Contract>(handlers: Handlers<C>, name: string): Handler<Route> {
  const handler = (handlers as unknown as Record<string, Handler<Route> | undefined>)[name];
  if (!handler) throw new Error(`Route ${name} has no handler.`);
  return handler;
}

function addMetricsRoute(
  app: FastifyInstance,
  metrics: Metrics,
  countUnauthenticated: CountUnauthenticated,
): void {
  const isExpected = (request: FastifyRequest) => {
    const credential = readCredential(request.raw.rawHeaders);
    return credential !== undefined && metrics.isToken(credential.value);
  };
  app.get("/metrics", { config: { isExpected } }, async (request, reply) => {
    if (!isExpected(request)) {
      countUnauthenticated(request.ip);
      if (!readCredential(request.raw.rawHeaders))
        throw new GatewayError("AUTH_REQUIRED", "Send the metrics token as a bearer token.");
      throw new GatewayError(
        "INVALID_TOKEN",
        "The metrics token is wrong. Send the value of WAYGATE_METRICS_TOKEN.",
      );
    }
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
}

async function listen(app: FastifyInstance, host: string, port: number) {
  await app.listen({ host, port });
  const { address, port: actual } = app.server.address() as AddressInfo;
  const shown =
    host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : host.includes(":") ? `[${host}]` : host;
  return { url: `http://${shown}:${actual}`, address, port: actual };
}

interface TrackedConnections {
  closeUnused(): void;
  /** Requests that are arriving or being answered. */
  requests(): number;
}

/**
 * Lets a server close at once if connections are idle, such as those that browsers open in advance. Node
 * itself would wait for their first request.
 */
function trackConnections(server: Server): TrackedConnections {
  const answering = new Map<Socket, number>();
  let isClosing = false;
  let requests = 0;
  server.on("connection", (socket) => {
    answering.set(socket, 0);
    socket.once("close", () => answering.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    answering.set(socket, (answering.get(socket) ?? 0) + 1);
    requests += 1;
    response.once("close", () => {
      requests -= 1;
      const left = (answering.get(socket) ?? 1) - 1;
      if (!socket.destroyed) answering.set(socket, left);
      if (isClosing && left === 0) socket.end();
    });
  });
  return {
    closeUnused() {
      isClosing = true;
      for (const [socket, count] of answering) if (count === 0) socket.destroy();
    },
    requests: () => requests,
  };
}

/** Answers a malformed or too slow request on the raw socket, and closes it. */
function handleClientError(
  error: Error & { code?: string },
  socket: Socket,
  settings: Pick<FastifySettings, "isHttps">,
): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const known = toGatewayError(error);
  const refusal =
    known.code === "INTERNAL"
      ? new GatewayError("VALIDATION_ERROR", "This is not a valid HTTP request.")
      : known;
  const request_id = requestIdOf(undefined);
  const { type, body } = errorBody(refusal, request_id);
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    `content-type: ${type}`,
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(commonHeaders(request_id, settings)).map(([name, value]) => `${name}: ${value}`),
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

/** The caller's request id if well formed, otherwise a new one. */
function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === "string" && REQUEST_ID.test(given) ? given : `req_${ulid()}`;
}

/** The methods of the contract at a path; none if the path is unknown. */
function createAllowedMethods(contract: Contract): (path: string) => string[] {
  const rows = Object.values(contract).map(({ http }) => {
    const [method = "", path = ""] = http.split(" ");
    return { method, parts: partsOf(path) };
  });
  return (path) => {
    const requested = partsOf(path);
    const methods = rows.filter(({ parts }) => isAt(parts, requested)).map(({ method }) => method);
    return [...new Set(methods.includes("GET") ? [...methods, "HEAD"] : methods)];
  };
}

function partsOf(path: string): string[] {
  return (path.endsWith("/") ? path.slice(0, -1) : path).split("/");
}

/** A part such as `:id` matches any non-empty text. */
function isAt(parts: readonly string[], requested: readonly string[]): boolean {
  return (
    parts.length === requested.length &&
    parts.every((part, at) => (part.startsWith(":") ? requested[at] !== "" : part === requested[at]))
  );
}
