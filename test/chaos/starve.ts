const BLOCKED_MS = 5_000;

// Loaded into a gateway before its own code: on SIGUSR2 its event loop does nothing else for five seconds.
process.on("SIGUSR2", () => {
  const until = performance.now() + BLOCKED_MS;
  while (performance.now() < until);
});
