import type { ProcessUse } from "../../run/process-figures.ts";
import type { LoadFigures } from "../closed-loop.ts";
import type { MeasuredStage, PairedSession, StageRole } from "../measured-stage.ts";
import type { LoadPace, SendLoad } from "../processes/load-generator.ts";
import type { Figures } from "../scenario.ts";

export function toLoad(
  { gateway }: MeasuredStage,
  sessions: readonly PairedSession[],
  numbers: readonly string[],
  pace: LoadPace,
): SendLoad {
  return { baseUrl: gateway.baseUrl, sessions, numbers, pace };
}

/** Shows the first failure, if there is one. */
export function toSendFigures({
  perSecond,
  p50,
  p99,
  max,
  failed,
  failure,
  driverLagMs,
}: LoadFigures): Figures {
  if (failure !== undefined) console.log(`the first of ${failed} failures: ${failure}`);
  return {
    per_second: perSecond,
    p50_ms: p50,
    p99_ms: p99,
    max_ms: max,
    failed,
    load_lag_ms: driverLagMs,
  };
}

/** Processor time for each of so many messages, and memory at the end. */
export function costOf(use: Record<StageRole, ProcessUse>, count: number): Figures {
  return {
    gateway_cpu_ms: use.gateway.cpuMs / count,
    database_cpu_ms: use.database.cpuMs / count,
    network_cpu_ms: use.network.cpuMs / count,
    load_cpu_ms: (use.load.cpuMs + use.receiver.cpuMs) / count,
    gateway_mb: use.gateway.proportionalMb,
    database_mb: use.database.proportionalMb,
  };
}
