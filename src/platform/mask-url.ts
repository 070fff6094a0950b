/** A URL fit for a log: user name, password and query values are masked, the fragment is dropped. */
export function maskUrl(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return "[not a URL]";
  }
  const userinfo = parsed.username === "" && parsed.password === "" ? "" : "***@";
  const query = parsed.search === "" ? "" : `?${parsed.search.slice(1).split("&").map(maskPair).join("&")}`;
  return `${parsed.protocol}//${userinfo}${parsed.host}${parsed.pathname}${query}`;
}

/** Where a URL leads, without what may be secret in its path. */
export function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "[not a URL]";
}

function maskPair(pair: string): string {
  const equals = pair.indexOf("=");
  // A query without "=" may itself be a token.
  return equals === -1 ? "***" : `${pair.slice(0, equals)}=***`;
}
