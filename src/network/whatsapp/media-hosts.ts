/** WhatsApp's media host, used unless it names another one. */
const USUAL_HOST = "mmg.whatsapp.net";
const OF_WHATSAPP = /^([a-z0-9-]+\.)+whatsapp\.net$/;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const LONGEST_PATH = 2_048;

/** Whether an address, such as that of the network, is on this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}

export interface MediaHostsOptions {
  /** URL of the network, if it is not WhatsApp's own. */
  networkUrl?: string;
  /** The media host that the network names, such as `mmg.whatsapp.net` or `127.0.0.1:4711`. */
  named?(): string | undefined;
}

/** The hosts for media downloads and uploads; the sender of a message cannot change them. */
export class MediaHosts {
  readonly #options: MediaHostsOptions;
  readonly #isTest: boolean;

  constructor(options: MediaHostsOptions = {}) {
    this.#options = options;
    this.#isTest = options.networkUrl !== undefined && isLoopback(new URL(options.networkUrl));
  }

  /** Allows WhatsApp's own hosts over HTTPS and the host that a test server on this machine names. */
  allows(url: URL): boolean {
    if (url.protocol !== "https:") return false;
    if (OF_WHATSAPP.test(url.hostname) && url.port === "") return true;
    return this.#isTest && isLoopback(url) && url.host === this.#options.named?.();
  }

  /** The URL of a file by its path, which the sender controls; undefined if it leads to another host. */
  urlOf(path: string): URL | undefined {
    const named = this.#options.named?.();
    if (named === undefined) return this.#at(USUAL_HOST, path);
    return this.#at(named, path) ?? this.#at(USUAL_HOST, path);
  }

  #at(host: string, path: string): URL | undefined {
    if (path.length > LONGEST_PATH || !/^\/[^/\\]/.test(path)) return undefined;
    const text = `https://${host}${path}`;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    return url?.host === host && this.allows(url) ? url : undefined;
  }
}
