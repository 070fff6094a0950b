import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../../../src/client/client.ts";
import { findProcessTree, type ProcessUse, readUse } from "../../run/process-figures.ts";
import { startReceiver } from "../../servers/receiver.ts";
import { type BenchGateway, makeDataDir, removeDataDir, startBenchGateway } from "../bench-gateway.ts";
import type { LoadFigures } from "../closed-loop.ts";
import {
  type MeasuredStage,
  type Metered,
  type PairedSession,
  type StageRole,
  startMeasuredStage,
} from "../measured-stage.ts";
import type { LoadPace, SendLoad } from "../processes/load-generator.ts";
import type { BenchOptions, Figures, MeasuredPoint, Scenario } from "../scenario.ts";

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
  return { per_second: perSecond, p50_ms: p50, p99_ms: p99, max_ms: max, failed, load_lag_ms: driverLagMs };
}

/** CPU time per message, and memory at the end. */
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

interface SendPoint {
  sessions: number;
  connections: number;
}

const POINTS: SendPoint[] = [
  { sessions: 1, connections: 1 },
  { sessions: 1, connections: 10 },
  { sessions: 20, connections: 40 },
  { sessions: 100, connections: 100 },
];
/** Limit in short runs. */
const MOST_SESSIONS = 20;
/** Of each session. */
const RECIPIENTS = 20;

/** Sync sends over HTTP, and plain Baileys with the same concurrency. */
export const sends: Scenario = {
  title: "Sync texts",
  async open(options) {
    const stage = await startMeasuredStage();
    const numbers = await stage.addPeople(RECIPIENTS, { opaque: true });
    const points = POINTS.filter(({ sessions }) => !options.isShort || sessions <= MOST_SESSIONS);
    return {
      points: points.map((point) => toPoint(stage, numbers, point, options)),
      close: () => stage.stop(),
    };
  },
};

function toPoint(
  stage: MeasuredStage,
  numbers: string[],
  { sessions, connections }: SendPoint,
  { seconds, warmUpSeconds }: BenchOptions,
): MeasuredPoint {
  let isReady = false;
  const prepare = async (): Promise<void> => {
    const paired = await stage.connect(sessions);
    await stage.load.ask("greet", toLoad(stage, paired, numbers, { connections, seconds: 0 }));
    const library = stage.library(sessions);
    await library.ask("pair", { network: stage.network, controlUrl: stage.network.controlUrl, sessions });
    await library.ask("greet", { sessions, numbers });
    isReady = true;
  };
  return {
    label: `${sessions} ${sessions === 1 ? "session" : "sessions"}, ${connections} at once`,
    async measure() {
      if (!isReady) await prepare();
      const paired = await stage.connect(sessions);
      const send = (time: number) =>
        stage.load.ask("send", toLoad(stage, paired, numbers, { connections, seconds: time }));
      const bare = (time: number) =>
        stage.library(sessions).ask("send", { sessions, connections, seconds: time, numbers });
      await bare(warmUpSeconds);
      const library = await stage.meter(() => bare(seconds));
      await send(warmUpSeconds);
      const gateway = await stage.meter(() => send(seconds));
      return compare(gateway, library);
    },
  };
}

function compare(
  gateway: Metered<LoadFigures, StageRole>,
  library: Metered<LoadFigures, StageRole>,
): Figures {
  const { result, use } = gateway;
  const sent = result.count - result.failed;
  const libraryCpuMs = library.use.library.cpuMs / library.result.count;
  return {
    ...toSendFigures(result),
    ...costOf(use, sent),
    library_per_second: library.result.perSecond,
    library_cpu_ms: libraryCpuMs,
    gateway_cpu_ms_beyond_library: use.gateway.cpuMs / sent - libraryCpuMs,
    ratio_to_library: result.perSecond / library.result.perSecond,
  };
}

const IDLE_MS = 5000;

/** Time from the start to the first 200 of /health, and memory then. */
export const starts: Scenario = {
  title: "Starts, and memory at idle",
  async open() {
    const dataDir = await makeDataDir();
    const warm = () => startBenchGateway(dataDir);
    await (await warm()).stop();
    return {
      points: [
        { label: "cold: creates its database", measure: () => startCold() },
        { label: "warm", measure: async () => measure(await warm(), dataDir) },
        { label: "cold, to the first webhook", measure: () => startToWebhook() },
      ],
      close: () => removeDataDir(dataDir),
    };
  },
};

async function startCold(): Promise<Figures> {
  const dataDir = await makeDataDir();
  const figures = await measure(await startBenchGateway(dataDir), dataDir);
  await removeDataDir(dataDir);
  return figures;
}

/** The steps of the quick start after `npm start`, as one program. */
async function startToWebhook(): Promise<Figures> {
  const dataDir = await makeDataDir();
  const receiver = await startReceiver();
  const gateway = await startBenchGateway(dataDir);
  const { id, api_key, webhook_secret } = (
    await gateway.owner.createInstance({ name: "Sales", network: "sandbox" })
  ).data;
  receiver.trust(webhook_secret);
  const client = createClient({ baseUrl: gateway.url, apiKey: api_key });
  await client.sandboxScan({ id });
  await client.createWebhook({ id, url: receiver.url, secret: webhook_secret });
  await client.sendText({ id, number: "5511999990004", text: "Hello" });
  await receiver.waitFor(({ body }) => body.event === "message.received");
  const first_webhook_ms = gateway.age();
  await gateway.stop();
  await receiver.close();
  await removeDataDir(dataDir);
  if (receiver.forged.length > 0) throw new Error("A webhook is not signed with its secret.");
  return { start_ms: gateway.startMs, first_webhook_ms };
}

async function measure(gateway: BenchGateway, dataDir: string): Promise<Figures> {
  await sleep(IDLE_MS);
  const node = await readUse([gateway.pid]);
  const isPostgres = (command: string) => command.includes("postgres") && command.includes(dataDir);
  const database = await readUse(await findProcessTree(isPostgres));
  await gateway.stop();
  return {
    start_ms: gateway.startMs,
    gateway_mb: node.proportionalMb,
    database_mb: database.proportionalMb,
    stack_mb: node.proportionalMb + database.proportionalMb,
  };
}
