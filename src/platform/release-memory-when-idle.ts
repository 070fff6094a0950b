import { performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const CHECK_MS = 10_000;
/** The share of the time in which the process works: a collection stops it, so nothing much may wait. */
const IDLE_BELOW = 0.1;
/** Less is not worth a collection. */
const WORTH_BYTES = 32 * 2 ** 20;

/**
 * Returns what a busy time has taken to the system once the process is idle. V8 lets the heap grow to several times of
 * what is in use, and collects it only when more is allocated.
 */
export function releaseMemoryWhenIdle(checkMs = CHECK_MS): void {
  const collect = exposeCollector();
  let lastUse = performance.eventLoopUtilization();
  let keptBytes = 0;
  setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(lastUse);
    lastUse = performance.eventLoopUtilization();
    if (utilization > IDLE_BELOW || heapBytes() < keptBytes + WORTH_BYTES) return;
    collect();
    keptBytes = heapBytes();
  }, checkMs).unref();
}

function heapBytes(): number {
  return getHeapStatistics().total_heap_size;
}

function exposeCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  if (typeof collect !== "function") throw new Error("V8 does not show its garbage collector.");
  return () => collect();
}
