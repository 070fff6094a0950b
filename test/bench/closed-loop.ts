import { percentile } from "../run/process-figures.ts";
import type { Offered } from "./event-source.ts";

/** Times in milliseconds. */
export interface LoadFigures {
  count: number;
  failed: number;
  perSecond: number;
  p50: number;
  p99: number;
  max: number;
  /** Longest delay of the load generator itself. */
  driverLagMs: number;
  /** The first failure. */
  failure?: string;
}

export type ClosedLoad = { connections: number } & ({ seconds: number } | { count: number });

/** Each connection repeats the action until the time is over or the count is reached. */
export async function runClosedLoop(
  load: ClosedLoad,
  act: (n: number) => Promise<unknown>,
): Promise<LoadFigures> {
  const began = performance.now();
  const until = "seconds" in load ? began + load.seconds * 1000 : Number.POSITIVE_INFINITY;
  const most = "count" in load ? load.count : Number.POSITIVE_INFINITY;
  const offered: Offered = { count: 0, failed: 0, latencies: [], driverLagMs: 0 };
  let failure: string | undefined;
  const work = async (): Promise<void> => {
    while (offered.count < most && performance.now() < until) {
      const startedAt = performance.now();
      try {
        await act(offered.count++);
        offered.latencies.push(performance.now() - startedAt);
      } catch (error) {
        offered.failed += 1;
        failure ??= String(error);
      }
    }
  };
  await Promise.all(Array.from({ length: load.connections }, work));
  const figures = summariseLoad(offered, (performance.now() - began) / 1000);
  return failure === undefined ? figures : { ...figures, failure };
}

export function summariseLoad(
  { count, failed, latencies, driverLagMs }: Offered,
  seconds: number,
): LoadFigures {
  return {
    count,
    failed,
    perSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    max: percentile(latencies, 1),
    driverLagMs,
  };
}
