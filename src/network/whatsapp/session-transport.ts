import { once } from "node:events";
import { Agent as HttpsAgent } from "node:https";
import { connect, type LookupFunction } from "node:net";
import type { SocketConfig } from "baileys";
import { socksConnector } from "fetch-socks";
import { HttpsProxyAgent } from "https-proxy-agent";
import { SocksProxyAgent } from "socks-proxy-agent";
import { Agent, type Dispatcher, ProxyAgent, request } from "undici";
import { MediaHosts } from "./media-hosts.ts";

type Handler = Dispatcher.DispatchHandler;

type ArgumentsOf<Name extends keyof Handler> = Parameters<NonNullable<Handler[Name]>>;

export interface SessionTransportOptions {
  /** As in `OpenSessionOptions`. */
  proxy?: string;
  lookup?: LookupFunction;
}

/** How a session without its own proxy reaches the network. */
export interface SessionEgress {
  /** Resolves the media hosts that the network names, and fails for an address that is not allowed. */
  lookup?: LookupFunction;
  /** HTTP proxy for all outgoing requests of the gateway. */
  proxy?: string;
}

export interface FileResponse {
  status: number;
  body: AsyncIterable<Uint8Array> & { destroy(): unknown };
}

export interface SessionTransport extends Required<Pick<SocketConfig, "fetchAgent" | "options">> {
  /** Agent of the WebSocket. */
  agent?: SocketConfig["agent"];
  fetchFile(url: URL): Promise<FileResponse>;
}

const WHATSAPP = "wss://web.whatsapp.com/ws/chat";
const SOCKS_PORT = 1080;
/** The proxy resolves the network's host names, so that no local DNS query reveals them. */
const BY_NAME: Readonly<Record<string, string>> = { "socks4:": "socks4a:", "socks5:": "socks5h:" };
/** Maximum size of a file that Baileys fetches itself and holds in memory: history and settings. */
const LIBRARY_BYTES = 128 * 1024 * 1024;
const FILE_HEADERS_MS = 30_000;

/**
 * A session's transport for its WebSocket and for all downloads and uploads, by Baileys or by us. Each file
 * uses one of two guarded transports, which connect only to hosts that `hosts` allows and follow no redirect.
 */
export function createSessionTransport(
  options: SessionTransportOptions,
  egress: SessionEgress,
  hosts = new MediaHosts(),
): SessionTransport {
  const dispatcher = dispatcherOf(options, egress);
  const guarded = (maxBytes: number): Dispatcher =>
    dispatcher.compose((dispatch) => (call, handler) => {
      requireAllowed(hosts, new URL(String(call.origin)));
      return dispatch(call, new BoundedResponseHandler(handler, maxBytes));
    });
  const files = guarded(Number.POSITIVE_INFINITY);
  const proxy = options.proxy ?? egress.proxy;
  return {
    ...(proxy !== undefined && { agent: proxyAgentOf(proxy, options.lookup) }),
    fetchAgent: uploadAgentOf(options, egress, hosts),
    // The types of Node's own `fetch` belong to another version of undici.
    options: { dispatcher: guarded(LIBRARY_BYTES) } as object,
    async fetchFile(url) {
      const response = await request(url, { dispatcher: files, headersTimeout: FILE_HEADERS_MS });
      // Cutting an unread response emits an error, which must not end the process.
      return { status: response.statusCode, body: response.body.on("error", () => {}) };
    },
  };
}

/** Resolves once WhatsApp has responded through the proxy, as a session would reach it; any status will do. */
export async function reachNetwork(
  { proxy, lookup }: SessionTransportOptions,
  { url = WHATSAPP, signal }: { url?: string | undefined; signal: AbortSignal },
): Promise<void> {
  const dispatcher = dispatcherOf({ ...(proxy && { proxy }), ...(lookup && { lookup }) }, {});
  const ended = new AbortController();
  // undici ends a request by its signal only once the tunnel stands, and its own end waits for the tunnel.
  const aborted = once(signal, "abort", { signal: ended.signal }).then(() => Promise.reject(signal.reason));
  const response = request(url.replace(/^ws/, "http"), { dispatcher, signal });
  try {
    const { body } = await Promise.race([response, aborted]);
    body.on("error", () => {}).destroy();
  } finally {
    ended.abort();
    for (const unused of [response, aborted, dispatcher.destroy()]) unused.catch(() => {});
  }
}

function requireAllowed(hosts: MediaHosts, url: URL): void {
  if (!hosts.allows(url)) throw new Error(`${url.host} is not a file host of WhatsApp.`);
}

function dispatcherOf({ proxy, lookup }: SessionTransportOptions, egress: SessionEgress): Dispatcher {
  if (proxy === undefined) {
    return egress.proxy === undefined
      ? new Agent({ connect: { lookup: egress.lookup } })
      : new ProxyAgent({ uri: egress.proxy, proxyTunnel: true });
  }
  const url = new URL(proxy);
  return Object.hasOwn(BY_NAME, url.protocol)
    ? new Agent({ connect: dialSocks(url, lookup) })
    : new ProxyAgent({ uri: proxy, proxyTunnel: true, proxyTls: { lookup } as object });
}

function proxyAgentOf(proxy: string, lookup?: LookupFunction): SocksProxyAgent | HttpsProxyAgent<string> {
  const byName = BY_NAME[new URL(proxy).protocol];
  return byName
    ? new SocksProxyAgent(proxy.replace(/^[^:]+:/, byName), { socketOptions: { lookup } })
    : new HttpsProxyAgent(proxy, { lookup });
}

/** Baileys uploads through Node's own client, which gets the connection of each redirect from its agent too. */
function uploadAgentOf(
  options: SessionTransportOptions,
  egress: SessionEgress,
  hosts: MediaHosts,
): HttpsAgent {
  const proxy = options.proxy ?? egress.proxy;
  if (proxy === undefined) return new UploadAgent(hosts, egress.lookup);
  const agent = proxyAgentOf(proxy, options.lookup);
  const dial = agent.connect.bind(agent) as (...args: Parameters<typeof agent.connect>) => Promise<never>;
  agent.connect = async (call: Parameters<typeof dial>[0], target: Parameters<typeof dial>[1]) => {
    const { host, port, secureEndpoint } = target;
    requireAllowed(hosts, new URL(`${secureEndpoint ? "https" : "http"}://${host}:${port}`));
    return dial(call, target);
  };
  return agent as unknown as HttpsAgent;
}

class UploadAgent extends HttpsAgent {
  readonly #hosts: MediaHosts;
  readonly #lookup: LookupFunction | undefined;

  constructor(hosts: MediaHosts, lookup: LookupFunction | undefined) {
    super();
    this.#hosts = hosts;
    this.#lookup = lookup;
  }

  override createConnection(...[options, done]: Parameters<HttpsAgent["createConnection"]>) {
    requireAllowed(this.#hosts, new URL(`https://${options.host}:${options.port}`));
    return super.createConnection({ ...options, ...(this.#lookup && { lookup: this.#lookup }) }, done);
  }
}

function dialSocks(url: URL, lookup: LookupFunction | undefined): ReturnType<typeof socksConnector> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port) || SOCKS_PORT;
  const dial = socksConnector({
    host,
    port,
    type: url.protocol === "socks4:" ? 4 : 5,
    ...(url.username && { userId: decodeURIComponent(url.username) }),
    ...(url.password && { password: decodeURIComponent(url.password) }),
  });
  return async (options, callback) => {
    try {
      const httpSocket = connect({ host, port, lookup });
      await once(httpSocket, "connect");
      dial({ ...options, httpSocket }, callback);
    } catch (error) {
      callback(error as Error, null);
    }
  };
}

/**
 * Passes on a response within the size limit; fails for redirects, which could lead to other hosts, and for
 * larger ones.
 */
class BoundedResponseHandler implements Handler {
  readonly #handler: Handler;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(handler: Handler, maxBytes: number) {
    this.#handler = handler;
    this.#maxBytes = maxBytes;
  }

  onRequestStart(...args: ArgumentsOf<"onRequestStart">): void {
    this.#handler.onRequestStart?.(...args);
  }

  onRequestUpgrade(...args: ArgumentsOf<"onRequestUpgrade">): void {
    this.#handler.onRequestUpgrade?.(...args);
  }

  onResponseStart(...args: ArgumentsOf<"onResponseStart">): void {
    const [, status] = args;
    if (status >= 300 && status < 400)
      throw new Error(`The file host responded with a redirect (${status}).`);
    this.#handler.onResponseStart?.(...args);
  }

  onResponseData(...args: ArgumentsOf<"onResponseData">): void {
    const [, chunk] = args;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) throw new Error(`The file is longer than ${this.#maxBytes} bytes.`);
    this.#handler.onResponseData?.(...args);
  }

  onResponseEnd(...args: ArgumentsOf<"onResponseEnd">): void {
    this.#handler.onResponseEnd?.(...args);
  }

  onResponseError(...args: ArgumentsOf<"onResponseError">): void {
    this.#handler.onResponseError?.(...args);
  }
}
