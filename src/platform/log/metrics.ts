import { createHash, timingSafeEqual } from "node:crypto";
import { collectDefaultMetrics, Histogram, Registry } from "prom-client";
import type { Secret } from "../secrets/secret.ts";

/** What the metrics know of a request. */
export interface ObservedRequest {
  method: string;
  /** The route pattern, never the concrete path. */
  route: string;
  status: number;
  seconds: number;
}

/** The metrics of this process in Prometheus format. Other parts register theirs in `registry`. */
export interface Metrics {
  readonly registry: Registry;
  observe(completed: ObservedRequest): void;
  /** Whether `/metrics` exists at all. */
  readonly isOpen: boolean;
  isToken(received: string): boolean;
}

/** Without a token, `/metrics` does not exist. */
export function createMetrics(token?: Secret): Metrics {
  const registry = new Registry();
  // The event-loop delay is sampled 100 times a second, which wakes an idle machine.
  if (token !== undefined) collectDefaultMetrics({ register: registry });
  const seconds = new Histogram({
    name: "waygate_http_request_seconds",
    help: "Time from the head of a request to the end of its answer, in seconds",
    labelNames: ["method", "route", "status"],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return {
    registry,
    isOpen: token !== undefined,
    observe: ({ method, route, status, seconds: duration }) =>
      seconds.observe({ method, route, status }, duration),
    isToken: (received) => token !== undefined && timingSafeEqual(digest(received), digest(token.reveal())),
  };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
