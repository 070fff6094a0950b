const PATH = /\/welcome\/?$/;

/**
 * The secret of the link that the start has printed. It is behind the `#`, which no browser sends, and leaves the address at
 * once: no history and no screenshot keeps it.
 */
function takeToken(): string | undefined {
  const { pathname, hash } = location;
  if (!PATH.test(pathname) || hash.length < 2) return undefined;
  history.replaceState(history.state, "", pathname);
  return hash.slice(1);
}

/** Read before the router sees the address. */
export const welcomeToken = takeToken();
