const MOST_CHARACTERS = 2_000;
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const HOST_NAME = /^[a-z0-9.-]+$/;
const LOOPBACK_HOSTS = new Set(["127.0.0.1", "[::1]", "localhost"]);
const LOOPBACK_URI = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?((?:[/?].*)?)$/;
/** A domain of the application in reverse order (RFC 8252, 7.1). The schemes of an operating system have no dot. */
const DOTTED_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+){1,9}:$/;
/** Editors and assistants that registered a scheme without a dot. */
const KNOWN_SCHEMES = new Set(
  "claude cursor goose lmstudio raycast vscode vscode-insiders warp windsurf zed"
    .split(" ")
    .map((scheme) => `${scheme}:`),
);

/** Why a redirect address of a client cannot be accepted; undefined: it can. */
export function findRedirectUriProblem(uri: string): string | undefined {
  if (uri.length > MOST_CHARACTERS) return `is longer than ${MOST_CHARACTERS} characters`;
  if (!VISIBLE_ASCII.test(uri)) return "must consist of visible ASCII characters";
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (!url) return "must be an absolute URL";
  if (uri.includes("#")) return "must have no fragment";
  if (url.username !== "" || url.password !== "") return "must have no user name";
  if (url.protocol === "https:") return HOST_NAME.test(url.hostname) ? undefined : "must name a host";
  if (url.protocol === "http:")
    return LOOPBACK_HOSTS.has(url.hostname) ? undefined : "must use https, except on this machine";
  if (KNOWN_SCHEMES.has(url.protocol) || DOTTED_SCHEME.test(url.protocol)) return undefined;
  return "must use https, or a scheme of the application's own with a dot, such as com.example.app";
}

/** Exact comparison; the port of a loopback address may differ, because programs listen on any free one (RFC 8252). */
export function isRegisteredRedirectUri(registered: readonly string[], uri: string): boolean {
  if (registered.includes(uri)) return true;
  const wanted = withoutLoopbackPort(uri);
  return wanted !== undefined && registered.some((one) => withoutLoopbackPort(one) === wanted);
}

function withoutLoopbackPort(uri: string): string | undefined {
  // The expression also fits a port beyond 65,535.
  if (uri.length > MOST_CHARACTERS || !URL.canParse(uri)) return undefined;
  const [, host, rest] = LOOPBACK_URI.exec(uri) ?? [];
  return host === undefined ? undefined : `${host} ${rest}`;
}

/** Where a redirect leads, for a person to read. */
export function describeRedirect(uri: string): string {
  const { protocol, host, hostname } = new URL(uri);
  if (protocol === "https:") return host;
  if (protocol === "http:") return `a program on your own computer (${hostname})`;
  return `the program that opens ${protocol} links`;
}

/** The source of a Content-Security-Policy that permits a form to end at the redirect. */
export function policySourceOf(uri: string): string {
  const { protocol, origin, hostname } = new URL(uri);
  // The policy has no form for IPv6 addresses.
  const hasOrigin = (protocol === "https:" || protocol === "http:") && !hostname.startsWith("[");
  return hasOrigin ? origin : protocol;
}
