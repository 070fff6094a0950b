const CHANNEL = "waygate-sign-in";

/** Notifies the other tabs of a new sign-in. The cookie carries the session, so the message is empty. */
export function announceSignIn(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(null);
  channel.close();
}

/** Calls back when another tab may have signed in, and when this tab becomes visible. */
export function onSignInElsewhere(check: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  const ended = new AbortController();
  const { signal } = ended;
  channel.addEventListener("message", check, { signal });
  addEventListener("focus", check, { signal });
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && check(), {
    signal,
  });
  return () => {
    ended.abort();
    channel.close();
  };
}
