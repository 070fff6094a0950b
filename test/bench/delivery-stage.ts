import { setTimeout as sleep } from "node:timers/promises";
import { findProcessTree } from "../process-figures.ts";
import { startBenchDatabase } from "./bench-database.ts";
import {
  type BenchGateway,
  connectInstance,
  makeDataDir,
  removeDataDir,
  startBenchGateway,
} from "./bench-gateway.ts";
import { type Metered, meterRoles } from "./meter.ts";
import { type BenchProcess, spawnBenchProcess } from "./processes/bench-process.ts";
import type { DeliveredFigures, DeliveryReceivers } from "./processes/delivery-receivers.ts";
import type { EventRecorder } from "./processes/event-recorder.ts";
import { PROFILE_SETTINGS } from "./profile/database-recorder.ts";
import { recordGateway } from "./profile/gateway-profile.ts";
import type { BenchOptions, Figures } from "./scenario.ts";

export const RECEIVERS = 20;

type DeliveryRole = "gateway" | "database" | "receivers" | "recorder";

/** A gateway with a webhook for each receiver, and a process that records events for them. */
export interface DeliveryStage {
  receivers: BenchProcess<DeliveryReceivers>;
  recorder: BenchProcess<EventRecorder>;
  /** Those with healthy receivers first. */
  instances: number[];
  healthyUrls: string[];
  startGateway(): Promise<void>;
  stopGateway(): Promise<void>;
  meter<Result>(work: () => Promise<Result>): Promise<Metered<Result, DeliveryRole>>;
  stop(): Promise<void>;
}

const SECRET = { WAYGATE_SECRET_KEY: "c2VjcmV0IG9mIGEgYmVuY2gsIGFuZCBvZiBub3RoaW5nIGVsc2U=" };
const LOOK_EVERY_MS = 20;
/** How long nothing may arrive. */
const PATIENCE_MS = 60_000;

export async function startDeliveryStage(
  { program, onProfile }: BenchOptions,
  { hanging }: { hanging: number },
): Promise<DeliveryStage> {
  const database = await startBenchDatabase(program.isProfiled ? PROFILE_SETTINGS : {});
  const dataDir = await makeDataDir();
  const start = () =>
    startBenchGateway(dataDir, { databaseUrl: database.gatewayUrl, settings: SECRET, program });
  let gateway: BenchGateway = await start();
  const receivers = spawnBenchProcess<DeliveryReceivers>("delivery-receivers");
  const recorder = spawnBenchProcess<EventRecorder>("event-recorder");
  const urls = await receivers.ask("listen", { healthy: RECEIVERS, hanging });
  const instances: number[] = [];
  for (const url of [...urls.healthy, ...urls.hanging])
    instances.push((await connectInstance(gateway, url)).id);
  await recorder.ask("connect", database.url);
  const isOfDatabase = (command: string) =>
    command.includes("postgres") && command.includes(database.dataDir);
  return {
    receivers,
    recorder,
    instances,
    healthyUrls: urls.healthy,
    async startGateway() {
      gateway = await start();
    },
    stopGateway: () => gateway.stop(),
    async meter(work) {
      const stopRecording = gateway.cpuRecorder && (await recordGateway([gateway], database));
      const findProcesses = async () => ({
        gateway: [[gateway.pid]],
        database: [await findProcessTree(isOfDatabase)],
        receivers: [[receivers.pid]],
        recorder: [[recorder.pid]],
      });
      const metered = await meterRoles(findProcesses, work);
      if (stopRecording) onProfile(await stopRecording());
      return metered;
    },
    async stop() {
      for (const one of [receivers, recorder]) one.stop();
      await gateway.stop();
      await database.stop();
      await removeDataDir(dataDir);
    },
  };
}

/** Waits until as many deliveries have arrived since the reset, or none comes any more. */
export async function allDelivered(
  receivers: DeliveryStage["receivers"],
  expected: number,
): Promise<DeliveredFigures> {
  let count = 0;
  for (let changedAt = performance.now(); count < expected; await sleep(LOOK_EVERY_MS)) {
    const now = await receivers.ask("count", null);
    if (now > count) changedAt = performance.now();
    else if (performance.now() - changedAt > PATIENCE_MS) break;
    count = now;
  }
  return receivers.ask("read", null);
}

/** Processor time for each of so many deliveries, and memory at the end. */
export function deliveryCost({ use }: Metered<unknown, DeliveryRole>, count: number): Figures {
  return {
    gateway_cpu_ms: use.gateway.cpuMs / count,
    database_cpu_ms: use.database.cpuMs / count,
    receivers_cpu_ms: use.receivers.cpuMs / count,
    recorder_cpu_ms: use.recorder.cpuMs / count,
    gateway_mb: use.gateway.proportionalMb,
    database_mb: use.database.proportionalMb,
  };
}
