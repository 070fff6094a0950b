import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { type Dispatcher, request as send } from "undici";
import type { Log } from "../log/log.ts";
import { packageVersion } from "../package-version.ts";
import { createAddressPolicy, type ListenAddress, localAddresses } from "./address-policy.ts";
import { type BlockReason, createBlockedRequestLog, type Tenant } from "./blocked-request-log.ts";
import { BlockedTargetError, classifyFetchFailure, type FetchFailureCode } from "./classify-fetch-failure.ts";
import { type ConnectionPools, createConnectionPools } from "./connection-pools.ts";
import { decodeResponseBody } from "./decode-response-body.ts";
import { createDnsResolver, type DnsResolver } from "./dns-resolver.ts";
import { followRedirects } from "./follow-redirects.ts";
import { checkedLookup } from "./outgoing-connector.ts";
import { type OutgoingTarget, parseOutgoingTarget, type TargetRules } from "./outgoing-target.ts";
import { ChunkHandlerError, readResponseBody, streamResponseBody } from "./read-response-body.ts";
import { type RequestDeadline, startRequestDeadline } from "./request-deadline.ts";
import { findBlockReason, resolveTarget } from "./resolve-target.ts";

const SAVE_LOOKUP_MS = 3000;

export type FetchFailure = FetchFailureCode;
/** Whose rules apply: the URL comes from a customer, the operator, or an unknown sender on the network. */
type RequestOwner = "tenant" | "operator" | "network";

export interface OutgoingRequest {
  url: string;
  method: string;
  headers?: Record<string, string>;
  /** A stream is read once, and destroyed if the request fails. */
  body?: Uint8Array | string | Readable;
  /** Longest total time of the request, to the last byte. */
  totalMs: number;
  /** Returns this much of the response body and closes the connection if there is more. */
  maxBytes: number;
  /** Another limit for a response with these headers; the body waits until it resolves. Only for `fetch`. */
  maxBytesFor?(headers: Readonly<Record<string, string>>): number | Promise<number>;
  policyKey?: RequestOwner;
  /** Logged if the request is blocked. */
  tenant?: Tenant;
  /** The caller limits its concurrent requests, so this one need not wait for others to its origin. */
  isPaced?: boolean;
  /** Aborts the request; the promise then rejects with the signal's reason. */
  signal?: AbortSignal;
}

interface Failed<F> {
  outcome: "failed";
  failure: F;
  /** A sentence for logs and users, without addresses. */
  error: string;
  durationMs: number;
}

interface ReceivedResponse {
  outcome: "response";
  status: number;
  headers: Record<string, string>;
  durationMs: number;
}

/**
 * Once the headers have arrived the outcome is a response, even if the body breaks or runs into the deadline.
 */
export type FetchOutcome = (ReceivedResponse & { body: Buffer; truncated: boolean }) | Failed<FetchFailure>;

export interface DownloadRequest extends Omit<OutgoingRequest, "method" | "body" | "maxBytesFor"> {
  /** Receives the body of a 2xx response in pieces; the next piece waits for it. Its errors are rethrown. */
  onChunk(chunk: Buffer): void | Promise<void>;
  /** The first `maxBytes` are enough; otherwise a longer body is a failure. */
  isPartEnough?: boolean;
}

/** A download succeeds completely or fails. Only a 2xx response has a body. `url`: the URL after redirects. */
export type DownloadOutcome =
  | (ReceivedResponse & { bytes: number; truncated: boolean; url: string })
  | Failed<FetchFailure | "too_large" | "too_many_redirects">;

type ResolveRequest = Pick<OutgoingRequest, "url" | "totalMs" | "policyKey" | "tenant">;
type ResolveOutcome = { outcome: "resolved"; addresses: readonly string[] } | Failed<FetchFailure>;

/** Every outgoing request goes through here: each address is checked on connect, each response is bounded. */
export interface SafeFetch {
  /**
   * One HTTP request, without redirects, cookies or decompression. Returns remote failures; throws only the
   * gateway's own.
   */
  fetch(request: OutgoingRequest): Promise<FetchOutcome>;
  /** Follows up to five redirects under the same rules, and decodes the Content-Encoding of a file. */
  download(request: DownloadRequest): Promise<DownloadOutcome>;
  /**
   * Why a URL cannot be saved, as a message for its owner. A name that does not resolve now may do so later.
   */
  findBlockReason(url: string, owner?: RequestOwner): Promise<string | undefined>;
  /**
   * The addresses of the URL's host, for a client that connects itself and dials one of them; each is allowed. Nothing may
   * pass by a proxy.
   */
  resolve(request: ResolveRequest): Promise<ResolveOutcome>;
  /** A DNS lookup for a client that connects itself; fails if an address of the URL's host is not allowed. */
  lookup(url: string, owner?: RequestOwner): LookupFunction;
  /** Closes every connection. */
  close(): Promise<void>;
}

export interface SafeFetchOptions {
  allowedHosts: readonly string[];
  /** The allow-list for the operator's own URLs; by default the customers' list. */
  operatorAllowedHosts?: readonly string[];
  /**
   * Whether requests to this machine are allowed, checked before each one. If absent, only the list decides.
   */
  allowsLoopback?: () => Promise<boolean>;
  allowAlwaysDenied?: readonly string[];
  httpsOnly?: boolean;
  egressProxy?: string;
  ownListeners?: () => readonly ListenAddress[];
  lookup?: DnsResolver;
  /** Longest time until a connection stands; 5,000 by default. */
  connectMs?: number;
  /** Receives warnings about blocked requests. */
  log?: Pick<Log, "warn">;
}

interface Rules extends TargetRules {
  /** Separates sockets that were checked under different rules. */
  name: string;
}

interface FetchDeps {
  /** The current rules. */
  rulesOf(owner: RequestOwner | undefined): Promise<Rules>;
  lookup: DnsResolver;
  pools: ConnectionPools;
  noteBlocked(request: Pick<OutgoingRequest, "url" | "tenant">, reason: BlockReason): void;
}

export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const lookup = createDnsResolver(options.lookup);
  const tools: FetchDeps = {
    rulesOf: createRules(options),
    lookup,
    pools: createConnectionPools({ ...options, lookup, egressProxy: options.egressProxy }),
    noteBlocked: createBlockedNote(options),
  };
  return {
    fetch: (request) =>
      perform(tools, request, async ({ headers, body }, deadline) => {
        // While the limit is awaited, no other listener handles an error of the body.
        body.on("error", () => {});
        const maxBytes = await deadline.race(request.maxBytesFor?.(flat(headers)) ?? request.maxBytes);
        return readResponseBody(body, maxBytes);
      }),
    download: (request) => followRedirects(request, (hop) => download(tools, hop)),
    findBlockReason: async (url, owner) =>
      findBlockReason(url, { ...(await tools.rulesOf(owner)), lookup, totalMs: SAVE_LOOKUP_MS }),
    resolve: (request) => resolve(tools, request),
    lookup: (url, owner) => {
      const { hostname: host, port, protocol } = new URL(url);
      const target = { host, port: Number(port) || (protocol === "https:" ? 443 : 80) };
      return (hostname, lookupOptions, callback) => {
        tools.rulesOf(owner).then(
          ({ policy }) => checkedLookup(policy, target, lookup)(hostname, lookupOptions, callback),
          (error: NodeJS.ErrnoException) => callback(error, []),
        );
      };
    },
    close: () => tools.pools.close(),
  };
}

function createBlockedNote({ log }: SafeFetchOptions): FetchDeps["noteBlocked"] {
  const note = log && createBlockedRequestLog({ log });
  return ({ url, tenant }, reason) => note?.({ host: new URL(url).host, reason, ...tenant });
}

/** Two sets of rules: the list's, and the same plus this machine while that is allowed. */
function createRules(options: SafeFetchOptions): FetchDeps["rulesOf"] {
  const { allowedHosts, operatorAllowedHosts = allowedHosts, allowsLoopback } = options;
  const rulesFor = (name: string, hosts: readonly string[]): Rules => ({
    name,
    policy: createAddressPolicy({ ...options, allowedHosts: hosts, ownAddresses: localAddresses }),
    httpsOnly: options.httpsOnly ?? false,
    isProxied: options.egressProxy !== undefined,
  });
  // The operator's allow-list for customers must not apply to URLs from unknown senders.
  const network = rulesFor("network", ["external"]);
  const listed = {
    network,
    tenant: rulesFor("tenant", allowedHosts),
    operator: rulesFor("operator", operatorAllowedHosts),
  };
  const local = {
    network,
    tenant: rulesFor("tenant, local", [...allowedHosts, "loopback"]),
    operator: rulesFor("operator, local", [...operatorAllowedHosts, "loopback"]),
  };
  return async (owner = "tenant") => ((await allowsLoopback?.()) ? local : listed)[owner];
}

async function perform<Body extends object>(
  tools: FetchDeps,
  request: OutgoingRequest,
  read: (response: Dispatcher.ResponseData, deadline: RequestDeadline) => Promise<Body>,
): Promise<(ReceivedResponse & Body) | Failed<FetchFailureCode>> {
  const began = performance.now();
  const rules = await tools.rulesOf(request.policyKey);
  const target = parseOutgoingTarget(request.url, rules);
  if ("failure" in target) {
    if (target.failure === "blocked") tools.noteBlocked(request, "url");
    return { outcome: "failed", ...target, durationMs: 0 };
  }
  const deadline = startRequestDeadline(request.totalMs, request.signal);
  try {
    const response = await exchange({ tools, rules, target, deadline }, request, read);
    return { outcome: "response", ...response, durationMs: msSince(began) };
  } catch (error) {
    if (error instanceof ChunkHandlerError) throw error.cause;
    request.signal?.throwIfAborted();
    const fault: unknown = deadline.signal.aborted ? deadline.signal.reason : error;
    const failed = classifyFetchFailure(fault);
    if (failed.failure === "blocked")
      tools.noteBlocked(request, fault instanceof BlockedTargetError ? "resolved" : "proxy");
    return { outcome: "failed", ...failed, durationMs: msSince(began) };
  } finally {
    deadline.clear();
  }
}

interface Exchange {
  tools: FetchDeps;
  rules: Rules;
  target: OutgoingTarget;
  deadline: RequestDeadline;
}

async function exchange<Body extends object>(
  { tools, rules, target, deadline }: Exchange,
  request: OutgoingRequest,
  read: (response: Dispatcher.ResponseData, deadline: RequestDeadline) => Promise<Body>,
) {
  const { isPaced = false } = request;
  const { policy, name: policyKey } = rules;
  const lease = tools.pools.lease({ origin: target.url.origin, target, policyKey, policy, isPaced });
  const leased = await deadline.race(lease).catch((error: unknown) => {
    // A socket that arrives too late goes to the next waiter.
    lease.then((late) => late.release()).catch(() => {});
    throw error;
  });
  deadline.signal.addEventListener("abort", () => leased.release(deadline.signal.reason), { once: true });
  let response: Dispatcher.ResponseData | undefined;
  try {
    response = await deadline.race(
      send(target.url, { ...sent(request, target), dispatcher: leased.dispatcher }),
    );
    const body = await read(response, deadline);
    return { status: response.statusCode, headers: flat(response.headers), ...body };
  } finally {
    const isWhole = response?.body.readableEnded === true;
    leased.release(isWhole ? undefined : new Error("the outgoing request failed"));
  }
}

async function download(tools: FetchDeps, request: DownloadRequest) {
  const { maxBytes, onChunk, isPartEnough = false } = request;
  const headers = { ...request.headers, "accept-encoding": "identity" };
  const outcome = await perform(tools, { ...request, method: "GET", headers }, async (response) => {
    const { statusCode, body } = response;
    const isSuccess = statusCode >= 200 && statusCode < 300;
    const isTooLarge = !isPartEnough && Number(response.headers["content-length"] ?? 0) > maxBytes;
    if (!isSuccess || isTooLarge) {
      body.on("error", () => {}).destroy();
      return { bytes: 0, truncated: isSuccess };
    }
    const coding = isPacked(request.url, response.headers) ? undefined : response.headers["content-encoding"];
    return streamResponseBody(decodeResponseBody(body, coding?.toString()), maxBytes, onChunk);
  });
  if (outcome.outcome === "failed" || !outcome.truncated || isPartEnough) return outcome;
  const error = `The file is larger than ${maxBytes} bytes.`;
  return { outcome: "failed", failure: "too_large", error, durationMs: outcome.durationMs } as const;
}

/** A file that is compressed itself: some servers also call that its Content-Encoding. */
function isPacked(url: string, headers: Dispatcher.ResponseData["headers"]): boolean {
  return (
    /^application\/(?:x-)?g(?:un)?zip\b/i.test(String(headers["content-type"])) ||
    /\.t?gz$/i.test(new URL(url).pathname)
  );
}

async function resolve(tools: FetchDeps, request: ResolveRequest): Promise<ResolveOutcome> {
  const began = performance.now();
  const rules = await tools.rulesOf(request.policyKey);
  const found = await resolveTarget(request.url, {
    ...rules,
    lookup: tools.lookup,
    totalMs: request.totalMs,
  });
  if ("addresses" in found) return { outcome: "resolved", ...found };
  if (found.failure === "blocked") tools.noteBlocked(request, found.isResolved ? "resolved" : "url");
  const { failure, error } = found;
  return { outcome: "failed", failure, error, durationMs: msSince(began) };
}

/** Some hosts refuse clients without a name, or that accept nothing. */
const DEFAULT_HEADERS = { "user-agent": `Waygate/${packageVersion()}`, accept: "*/*" };

function sent({ method, headers = {}, body }: OutgoingRequest, { authorization }: OutgoingTarget) {
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const added = Object.entries({ ...DEFAULT_HEADERS, ...(authorization && { authorization }) });
  return {
    method: method as Dispatcher.HttpMethod,
    headers: { ...Object.fromEntries(added.filter(([name]) => !own.has(name))), ...headers },
    body: typeof body === "string" ? Buffer.from(body) : body,
  };
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const pairs = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]);
  return Object.fromEntries(pairs);
}

function msSince(began: number): number {
  return Math.round(performance.now() - began);
}
