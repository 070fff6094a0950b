/** Scheme, host and port of a URL; undefined for what is not one. */
export function originOf(url: unknown): string | undefined {
  return typeof url === "string" && URL.canParse(url) ? new URL(url).origin : undefined;
}
