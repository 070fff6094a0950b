import { once } from "node:events";
import { connect, type LookupFunction } from "node:net";
import type { SocketConfig } from "baileys";
import { socksConnector } from "fetch-socks";
import { HttpsProxyAgent } from "https-proxy-agent";
import { SocksProxyAgent } from "socks-proxy-agent";
import { Agent, type Dispatcher, ProxyAgent } from "undici";

export interface WayOptions {
  /** As in `OpenOptions`. */
  proxy?: string;
  lookup?: LookupFunction;
}

const SOCKS_PORT = 1080;
/** The proxy asks for the names of the network, so that nobody sees them here. */
const BY_NAME: Readonly<Record<string, string>> = { "socks4:": "socks4a:", "socks5:": "socks5h:" };

/** How a socket of the client library and its requests for files reach the network; empty: straight. */
export function wayOf({ proxy, lookup }: WayOptions): Pick<SocketConfig, "agent" | "fetchAgent" | "options"> {
  if (proxy === undefined) return { options: {} };
  const url = new URL(proxy);
  const byName = BY_NAME[url.protocol];
  const agent = byName
    ? new SocksProxyAgent(proxy.replace(/^[^:]+:/, byName), { socketOptions: { lookup } })
    : new HttpsProxyAgent(proxy, { lookup });
  const dispatcher = byName
    ? new Agent({ connect: dialSocks(url, lookup) })
    : new ProxyAgent({ uri: proxy, proxyTunnel: true, proxyTls: { lookup } as object });
  // The types of Node's own `fetch` are of another version of undici.
  return { agent, fetchAgent: agent, options: { dispatcher: dispatcher as Dispatcher } as object };
}

function dialSocks(url: URL, lookup: LookupFunction | undefined): ReturnType<typeof socksConnector> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port) || SOCKS_PORT;
  const dial = socksConnector({
    ...{ host, port, type: url.protocol === "socks4:" ? 4 : 5 },
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
