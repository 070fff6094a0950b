const BLOCKED_MS = 5_000;

// Preloaded into a gateway: SIGUSR2 blocks its event loop for five seconds.
process.on("SIGUSR2", () => {
  const until = performance.now() + BLOCKED_MS;
  while (performance.now() < until);
});
