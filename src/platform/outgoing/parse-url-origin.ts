/** Scheme, host and port of a URL; undefined for what is not one. */
export function parseUrlOrigin(url: unknown): string | undefined {
  return typeof url === "string" && URL.canParse(url) ? new URL(url).origin : undefined;
}
