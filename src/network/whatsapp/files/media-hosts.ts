/** Where WhatsApp keeps files as long as it names no other host. */
const USUAL_HOST = "mmg.whatsapp.net";
const OF_WHATSAPP = /^([a-z0-9-]+\.)+whatsapp\.net$/;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const LONGEST_PATH = 2_048;

/** Whether an address, such as that of the network, is on this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}

export interface MediaHostsOptions {
  /** Of the network, in place of WhatsApp's own. */
  networkUrl?: string;
  /** The host that the network names for files, such as `mmg.whatsapp.net` or `127.0.0.1:4711`. */
  named?(): string | undefined;
}

/** The hosts from which files are fetched and to which they go; whoever sends a message has no say in it. */
export class MediaHosts {
  readonly #options: MediaHostsOptions;
  readonly #isTest: boolean;

  constructor(options: MediaHostsOptions = {}) {
    this.#options = options;
    this.#isTest = options.networkUrl !== undefined && isLoopback(new URL(options.networkUrl));
  }

  /** WhatsApp's own hosts over HTTPS and, of a test server on this machine, the host that it names. */
  allows(url: URL): boolean {
    if (url.protocol !== "https:") return false;
    if (OF_WHATSAPP.test(url.hostname) && url.port === "") return true;
    return this.#isTest && isLoopback(url) && url.host === this.#options.named?.();
  }

  /** The address of a file by its path, which a stranger has written; undefined for one that leads elsewhere. */
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
