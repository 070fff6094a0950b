import { readdir } from "node:fs/promises";
import { type Client, createClient } from "../../src/client/client.ts";
import { type Database, openDatabase } from "../../src/platform/db/database.ts";
import {
  type BenchGateway,
  makeDataDir,
  removeDataDir,
  startBenchDatabase,
  startBenchGateway,
} from "../bench/bench-gateway.ts";
import { cpuMs, findProcessTree, readProcess, readUse, residentMb } from "../run/process-figures.ts";
import type { Receivers } from "./receivers.ts";

/** Command line options such as `--seconds 30`. Each load has defaults. */
export interface LoadTestOptions {
  seconds?: number;
  /** Per second. */
  rate?: number;
  sessions?: number;
  jobs?: number;
}

export interface LoadVerdict {
  /** Differences between the ledgers of client, gateway, network and receivers. Each must be 0. */
  ledgers: object;
  /** Missed goals as sentences. */
  missed: string[];
}

/** A sentence if the figure is at or above the goal. */
export function atOrAbove(goal: number, what: string, value: number): string[] {
  return value < goal ? [] : [`${what} ${value.toFixed(0)}, to be below ${goal}`];
}

/** Ledger differences that are not 0. */
export function disagreements({ ledgers }: LoadVerdict): string[] {
  const counts = Object.entries(ledgers).filter(([, count]) => count !== 0);
  return counts.map(([name, count]) => `${name} ${count}`);
}

/** CPU time and memory of the node and its database. */
export interface Meter {
  nodeMs: number;
  databaseMs: number;
  walBytes: number;
  keptBytes: number;
}

const KB = 1024;

export async function readMeter({ gateway, database: { pool } }: LoadStage): Promise<Meter> {
  const { rows } = await pool.query<{ pid: number; wal: number; kept: number }>(
    `select pg_backend_pid() as pid, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal,
       pg_database_size(current_database())::float8 as kept`,
  );
  const { pid = 0, wal = 0, kept = 0 } = rows[0] ?? {};
  const { parent } = await readProcess(pid);
  const postgres = await readUse(await findProcessTree((_, one) => one === parent));
  return { nodeMs: await cpuMs(gateway.pid), databaseMs: postgres.cpuMs, walBytes: wal, keptBytes: kept };
}

/** CPU time of each of `count` operations, as text. */
export function costOfEach(before: Meter, after: Meter, count: number): string {
  const each = (of: keyof Meter) => (after[of] - before[of]) / count;
  return `each costs ${each("nodeMs").toFixed(2)} ms of the node, ${each("databaseMs").toFixed(2)} ms of PostgreSQL, ${(each("walBytes") / KB).toFixed(1)} KiB of write-ahead log and ${(each("keptBytes") / KB).toFixed(1)} KiB of disk`;
}

/** The built gateway in its own process, on a database that the load can query. */
export interface LoadStage {
  readonly gateway: BenchGateway;
  readonly database: Database;
  /** Creates, pairs and connects an instance. */
  pair(name: string, webhookUrl?: string): Promise<LoadInstance>;
  stopGateway(): Promise<void>;
  startGateway(): Promise<void>;
  close(): Promise<void>;
}

export interface LoadInstance {
  id: number;
  api_key: string;
  webhook_secret: string;
  client: Client;
}

export async function startLoadStage(settings: Record<string, string> = {}): Promise<LoadStage> {
  const dataDir = await makeDataDir();
  const postgres = await startBenchDatabase();
  const secret = { WAYGATE_SECRET_KEY: "c2VjcmV0IG9mIGEgbG9hZCB0ZXN0LCBub3RoaW5nIG1vcmU=" };
  const start = () =>
    startBenchGateway(dataDir, { databaseUrl: postgres.gatewayUrl, settings: { ...secret, ...settings } });
  let gateway: BenchGateway | undefined = await start();
  const database = openDatabase(postgres.url, { max: 4, application_name: "load" });
  const running = () => {
    if (!gateway) throw new Error("the gateway is stopped");
    return gateway;
  };
  return {
    get gateway() {
      return running();
    },
    database,
    pair: (name, webhookUrl) => pair(running(), name, webhookUrl),
    async stopGateway() {
      await gateway?.stop();
      gateway = undefined;
    },
    async startGateway() {
      gateway = await start();
    },
    async close() {
      await gateway?.stop();
      await database.close();
      await postgres.stop();
      await removeDataDir(dataDir);
    },
  };
}

async function pair(
  { owner, url }: BenchGateway,
  name: string,
  webhookUrl: string | undefined,
): Promise<LoadInstance> {
  const webhook = webhookUrl && { webhook: { url: webhookUrl, events: ["message.received" as const] } };
  const { data } = await owner.createInstance({ name, network: "sandbox", ...webhook });
  const client = createClient({ baseUrl: url, apiKey: data.api_key });
  await client.sandboxScan({ id: data.id });
  return { id: data.id, api_key: data.api_key, webhook_secret: data.webhook_secret, client };
}

/** Pairs one instance for each receiver, which checks its signatures. Returns the ids. */
export async function pairEach(stage: LoadStage, receivers: Receivers, name: string): Promise<number[]> {
  const instances: number[] = [];
  for (const [n, url] of receivers.urls.entries()) {
    const { id, webhook_secret } = await stage.pair(`${name} ${n}`, url);
    receivers.trust(webhook_secret);
    instances.push(id);
  }
  return instances;
}

/** Polls a condition four times a second. Returns false after the timeout. */
export async function holdsWithin(ms: number, condition: () => Promise<boolean> | boolean): Promise<boolean> {
  const giveUpAt = performance.now() + ms;
  while (performance.now() < giveUpAt) {
    if (await condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return condition();
}

const STILL_MS = 30_000;

/** Waits until as many have arrived, or nothing more does. Returns whether all have. */
export async function allHaveCome(count: () => number, expected: number): Promise<boolean> {
  for (let before = -1; count() > before && count() < expected; ) {
    before = count();
    await holdsWithin(STILL_MS, () => count() >= expected);
  }
  return count() >= expected;
}

export interface ProcessSample {
  atMs: number;
  residentMb: number;
  files: number;
}

/** Samples memory and open files of a process until stopped. */
export function watchProcess(pid: () => number, everyMs: number): { samples: ProcessSample[]; stop(): void } {
  const samples: ProcessSample[] = [];
  const look = async () => {
    const files = (await readdir(`/proc/${pid()}/fd`)).length;
    samples.push({ atMs: performance.now(), residentMb: await residentMb(pid()), files });
  };
  const timer = setInterval(() => void look().catch(() => {}), everyMs);
  return { samples, stop: () => clearInterval(timer) };
}

/** Slope by least squares, per hour. */
export function slopeAnHour(
  samples: readonly ProcessSample[],
  of: (sample: ProcessSample) => number,
): number {
  const hours = samples.map(({ atMs }) => atMs / 3_600_000);
  const values = samples.map(of);
  const mean = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  const [meanHours, meanValue] = [mean(hours), mean(values)];
  let [over, under] = [0, 0];
  for (const [index, hour] of hours.entries()) {
    over += (hour - meanHours) * ((values[index] ?? 0) - meanValue);
    under += (hour - meanHours) ** 2;
  }
  return over / under;
}
