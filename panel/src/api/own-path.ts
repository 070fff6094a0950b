const LONGEST_PATH = 2_000;

/** Only a path of the panel, with its search: a link must not lead a signed-in user elsewhere. */
export function isOwnPath(to: unknown): to is string {
  return typeof to === "string" && /^\/(?![/\\])/.test(to) && to.length < LONGEST_PATH;
}

/** The search of the sign-in page, so that it leads back to `href`, an address of the panel. */
export function toSignInSearch(href: string): { to?: string } {
  return href !== "/" && isOwnPath(href) ? { to: href } : {};
}
