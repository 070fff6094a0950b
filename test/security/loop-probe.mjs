// Preloaded: serves event loop and memory figures to each connection.
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

const file = process.env.LOOP_PROBE_FILE;
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();

const server = createServer((socket) => {
  socket.on("error", () => {});
  const { active } = performance.eventLoopUtilization();
  const rss = process.memoryUsage.rss();
  socket.end(JSON.stringify({ active_ms: active, longest_ms: delays.max / 1e6, rss_mb: rss / 2 ** 20 }));
  delays.reset();
});
// Short-lived worker threads load this file too.
if (isMainThread) server.listen(0, "127.0.0.1", () => writeFileSync(file, String(server.address().port)));
server.unref();
