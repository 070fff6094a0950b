/** Scheme, host and port of a URL; undefined if it is none. */
export function parseUrlOrigin(url: unknown): string | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const { origin, protocol, host } = new URL(url);
  // Only the schemes of the web have an origin of their own.
  return origin === "null" ? `${protocol}//${host}` : origin;
}
