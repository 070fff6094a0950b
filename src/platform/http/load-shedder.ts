import { GatewayError } from "../gateway-error.ts";
import type { Log } from "../log/log.ts";

/** A value that grows while a process is overloaded. */
export interface LoadGauge {
  /** Name for the log. */
  readonly label: string;
  /** Value from which new requests are rejected; 0: no limit. */
  readonly limit: number;
  read(): number;
}

/** Whether this process accepts new requests. */
export interface LoadShedder {
  /** False from the moment a gauge reaches its limit until it is well below it. */
  admits(): boolean;
}

/** A gauge must fall to this fraction of its limit, so that the result does not flip with every request. */
const RECOVERED_AT = 0.8;

/** Reads the gauges at every call, and logs each change of the result. */
export function createLoadShedder(
  gauges: readonly LoadGauge[],
  log: Pick<Log, "warn" | "info">,
): LoadShedder {
  const high = new Set<LoadGauge>();

  function pollGauge(gauge: LoadGauge): void {
    const { label, limit } = gauge;
    if (limit === 0) return;
    const value = gauge.read();
    if (!high.has(gauge) && value >= limit) {
      high.add(gauge);
      log.warn({ name: label, count: value, limit }, "overloaded: new requests are rejected");
    } else if (high.has(gauge) && value <= limit * RECOVERED_AT) {
      high.delete(gauge);
      log.info({ name: label, count: value, limit }, "no longer overloaded");
    }
  }

  return {
    admits() {
      for (const gauge of gauges) pollGauge(gauge);
      return high.size === 0;
    },
  };
}

const RETRY_AFTER_SECONDS = { least: 2, spread: 4 };

/** A temporary rejection; random retry times keep clients from returning in the same second. */
export function overloadedError(message: string): GatewayError {
  const retryAfterSeconds =
    RETRY_AFTER_SECONDS.least + Math.floor(Math.random() * RETRY_AFTER_SECONDS.spread);
  return new GatewayError("UNAVAILABLE", message, { retryAfterSeconds });
}

export interface EventLoopLagMeter {
  /** Event-loop delay in milliseconds, averaged over about one second. */
  read(): number;
  stop(): void;
}

const EVERY_MS = 250;
const WEIGHT = 0.3;

/** Measures with a timer. Caps each sample at `ceilingMs`, so that one long pause alone has little effect. */
export function startEventLoopLagMeter({
  ceilingMs,
  now = () => performance.now(),
}: EventLoopLagMeterOptions): EventLoopLagMeter {
  let smoothed = 0;
  let dueAt = now() + EVERY_MS;
  const timer = setInterval(() => {
    const late = Math.min(ceilingMs, Math.max(0, now() - dueAt));
    smoothed += WEIGHT * (late - smoothed);
    dueAt = now() + EVERY_MS;
  }, EVERY_MS);
  timer.unref();
  return { read: () => smoothed, stop: () => clearInterval(timer) };
}

export interface EventLoopLagMeterOptions {
  ceilingMs: number;
  now?: () => number;
}
