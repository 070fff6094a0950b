import { GatewayError } from "../gateway-error.ts";
import type { Log } from "../log/log.ts";

/** Something that grows while a process has more to do than it can. */
export interface LoadGauge {
  /** For the log. */
  readonly what: string;
  /** From it on nothing new is taken; 0: no limit. */
  readonly limit: number;
  read(): number;
}

/** Whether this process may be given more to do. */
export interface LoadShedder {
  /** False from the moment at which a gauge reaches its limit until it is well below it. */
  admits(): boolean;
}

/** A gauge is calm again at this part of its limit, so that the answer does not change with every request. */
const CALM_AT = 0.8;

/** Looks at the gauges whenever it is asked, and tells the log when that changes the answer. */
export function createLoadShedder(
  gauges: readonly LoadGauge[],
  log: Pick<Log, "warn" | "info">,
): LoadShedder {
  const high = new Set<LoadGauge>();

  function look(gauge: LoadGauge): void {
    const { what, limit } = gauge;
    if (limit === 0) return;
    const value = gauge.read();
    if (!high.has(gauge) && value >= limit) {
      high.add(gauge);
      log.warn({ name: what, count: value, limit }, "too much to do: new requests are refused");
    } else if (high.has(gauge) && value <= limit * CALM_AT) {
      high.delete(gauge);
      log.info({ name: what, count: value, limit }, "calm again");
    }
  }

  return {
    admits() {
      for (const gauge of gauges) look(gauge);
      return high.size === 0;
    },
  };
}

const CALM_AFTER_SECONDS = { least: 2, spread: 4 };

/** Refuses for now; not all of them come back in the same second. */
export function overloadedError(message: string): GatewayError {
  const retryAfterSeconds = CALM_AFTER_SECONDS.least + Math.floor(Math.random() * CALM_AFTER_SECONDS.spread);
  return new GatewayError("UNAVAILABLE", message, { retryAfterSeconds });
}

export interface EventLoopLagMeter {
  /** How late this process is with what it has to do, in milliseconds, smoothed over about a second. */
  read(): number;
  stop(): void;
}

const EVERY_MS = 250;
const WEIGHT = 0.3;

/** Measures by a timer; more than `ceilingMs` counts as that, so that one long pause alone says little. */
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
