/** Scheme, host and port of a URL; undefined if it is none. */
export function parseUrlOrigin(url: unknown): string | undefined {
  return typeof url === "string" && URL.canParse(url) ? new URL(url).origin : undefined;
}
