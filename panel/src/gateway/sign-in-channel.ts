const CHANNEL = "waygate-sign-in";

/** Tells the other tabs of this browser that there is a new sign-in. The cookie has it; the message is empty. */
export function announceSignIn(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(null);
  channel.close();
}

/** Calls back when another tab may have signed in: at its word, and when the reader comes back to this one. */
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
