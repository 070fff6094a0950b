/**
 * Only the host that has set it gets it: `__Host-` makes the browser refuse it from a subdomain, over plain HTTP or for a
 * part of the site.
 */
export const SESSION_COOKIE = "__Host-waygate";
/** A page of another site cannot send it without a preflight, which the gateway never grants. */
export const PANEL_HEADER = "x-waygate-panel";

/** A token of the gateway has about 400 characters. */
const TOKEN = /^[\w-]{1,1000}\.[\w-]{1,1000}\.[\w-]{1,200}$/;

/** The `Set-Cookie` header that stores the token of a session. */
export function setSessionCookie(token: string, lifetimeSeconds: number): string {
  return `${SESSION_COOKIE}=${token}; Path=/; Max-Age=${lifetimeSeconds}; Secure; HttpOnly; SameSite=Strict`;
}

export function clearSessionCookie(): string {
  return setSessionCookie("", 0);
}

/**
 * The token in the session cookie. A request proves in two ways that a page of this origin sends it: by the panel's header,
 * and by what the browser says of its origin. Every other request has no session, whatever its cookies are.
 */
export function readSessionCookie(rawHeaders: readonly string[]): string | undefined {
  const [marker, ...otherMarkers] = valuesOf(rawHeaders, PANEL_HEADER);
  if (marker !== "1" || otherMarkers.length > 0 || !isSameOrigin(rawHeaders)) return undefined;
  const token = readCookie(rawHeaders, SESSION_COOKIE);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/** The `Set-Cookie` header that makes a browser a known device. `origin`: of the page that signs in. */
export function setDeviceCookie(token: string, lifetimeSeconds: number, origin: unknown): string {
  const secure = isPlain(origin) ? "" : " Secure;";
  return `${deviceCookieFor(origin)}=${token}; Path=/; Max-Age=${lifetimeSeconds};${secure} HttpOnly; SameSite=Strict`;
}

/** The token of a known device in its cookie, which browsers send only with requests of pages of this site. */
export function readDeviceCookie(rawHeaders: readonly string[]): string | undefined {
  const [origin] = valuesOf(rawHeaders, "origin");
  return readCookie(rawHeaders, deviceCookieFor(origin));
}

/** Over plain HTTP, as on this machine, not every browser stores a secure cookie. A secure page never reads the plain one. */
function deviceCookieFor(origin: unknown): string {
  return isPlain(origin) ? "waygate-device" : "__Host-waygate-device";
}

function isPlain(origin: unknown): boolean {
  return typeof origin === "string" && origin.startsWith("http:");
}

/** Undefined also for two of one name: the browser does not say which of them is whose. */
function readCookie(rawHeaders: readonly string[], name: string): string | undefined {
  const cookies = valuesOf(rawHeaders, "cookie")
    .flatMap((header) => header.split(";"))
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(`${name}=`));
  return cookies.length === 1 ? cookies[0]?.slice(name.length + 1) : undefined;
}

/** Browsers without `Sec-Fetch-Site` name the origin, except for reads, which then have no session. */
function isSameOrigin(rawHeaders: readonly string[]): boolean {
  const sites = valuesOf(rawHeaders, "sec-fetch-site");
  if (sites.length > 0) return sites.every((site) => site === "same-origin");
  const [origin = "", ...otherOrigins] = valuesOf(rawHeaders, "origin");
  const [host = "", ...otherHosts] = valuesOf(rawHeaders, "host");
  if (otherOrigins.length > 0 || otherHosts.length > 0 || host === "") return false;
  return origin.toLowerCase() === `https://${host}`.toLowerCase() || isOwnLoopback(origin, host);
}

/** The only hosts from which browsers accept a secure cookie over plain HTTP. */
function isOwnLoopback(origin: string, host: string): boolean {
  return /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i.test(host) && origin === `http://${host}`;
}

/** Every value of a header, in order; `name` is in lower case. */
export function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  const found: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() === name) found.push(rawHeaders[i + 1] ?? "");
  }
  return found;
}
