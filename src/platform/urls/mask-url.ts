import { parseUrlOrigin } from "./parse-url-origin.ts";

/** Lower-case words and versions; any other path segment may be a token. */
const PLAIN_SEGMENT = /^(?:v\d{1,2}|[a-z]{1,15}(?:[-_.][a-z]{1,15}){0,3})?$/;

/**
 * A URL safe for logs: masks user name, password, query values and possible tokens in the path; no fragment.
 */
export function maskUrl(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return "[not a URL]";
  }
  const userinfo = parsed.username === "" && parsed.password === "" ? "" : "***@";
  const query = parsed.search === "" ? "" : `?${parsed.search.slice(1).split("&").map(maskPair).join("&")}`;
  return `${parsed.protocol}//${userinfo}${parsed.host}${maskPath(parsed.pathname)}${query}`;
}

/** The origin of a URL, without secrets in its path. */
export function originOfUrl(url: string): string {
  return parseUrlOrigin(url) ?? "[not a URL]";
}

function maskPath(path: string): string {
  const segments = path.split("/");
  return segments.map((segment) => (PLAIN_SEGMENT.test(segment) ? segment : "***")).join("/");
}

function maskPair(pair: string): string {
  const equals = pair.indexOf("=");
  // A query without "=" may itself be a token.
  return equals === -1 ? "***" : `${pair.slice(0, equals)}=***`;
}
