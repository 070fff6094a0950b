import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { packageRoot } from "../../src/platform/package-version.ts";
import { type ProcessUse, readUse } from "../run/process-figures.ts";
import {
  spawnWhatsAppServer,
  type WhatsAppServerProcess,
} from "../whatsapp-server/process/server-process.ts";
import { type GatewaySession, type MeasuredGateway, startMeasuredGateway } from "./measured-gateway.ts";
import type { BareLibrary } from "./processes/bare-library.ts";
import { type BenchProcess, spawnBenchProcess } from "./processes/bench-process.ts";
import type { LoadGenerator } from "./processes/load-generator.ts";
import type { WebhookReceiver } from "./processes/webhook-receiver.ts";

/** A result with the CPU time that each role used meanwhile, and its memory at the end. */
export interface Metered<Result, Role extends string> {
  result: Result;
  use: Record<Role, ProcessUse>;
}

/** Process trees, each with its root first. */
export type ProcessTrees = readonly (readonly number[])[];

export async function meterRoles<Result, Role extends string>(
  findProcesses: () => Promise<Record<Role, ProcessTrees>>,
  work: () => Promise<Result>,
): Promise<Metered<Result, Role>> {
  const before = await readRoles(await findProcesses());
  const result = await work();
  const use = await readRoles(await findProcesses());
  for (const role of Object.keys(use) as Role[]) use[role].cpuMs -= before[role].cpuMs;
  return { result, use };
}

async function readRoles<Role extends string>(
  roles: Record<Role, ProcessTrees>,
): Promise<Record<Role, ProcessUse>> {
  const entries = Object.entries<ProcessTrees>(roles).map(
    async ([role, trees]) => [role, addUp(await Promise.all(trees.map(readUse)))] as const,
  );
  return Object.fromEntries(await Promise.all(entries)) as Record<Role, ProcessUse>;
}

function addUp(uses: readonly ProcessUse[]): ProcessUse {
  const sum = (of: keyof ProcessUse) => uses.reduce((all, use) => all + use[of], 0);
  return { cpuMs: sum("cpuMs"), proportionalMb: sum("proportionalMb") };
}

const POLL_MS = 20;
const PATIENCE_MS = 60_000;

export type StageRole = "gateway" | "database" | "network" | "receiver" | "load" | "library";

export interface PairedSession extends GatewaySession {
  phone: string;
}

/** A gateway, a WhatsApp server, a webhook receiver, a load generator and plain Baileys, each in its own process. */
export interface MeasuredStage {
  gateway: MeasuredGateway;
  network: WhatsAppServerProcess;
  load: BenchProcess<LoadGenerator>;
  receiver: BenchProcess<WebhookReceiver>;
  /**
   * Plain Baileys in one process for each number of sessions, because a process with many sessions is slower with
   * one, too.
   */
  library(sessions: number): BenchProcess<BareLibrary>;
  webhookUrl: string;
  /** Pairs sessions until there are `count`, and returns them. */
  connect(count: number): Promise<PairedSession[]>;
  /** Adds people to write to. Opaque ones read nothing. */
  addPeople(count: number, options?: { opaque: boolean }): Promise<string[]>;
  meter<Result>(work: () => Promise<Result>): Promise<Metered<Result, StageRole>>;
  stop(): Promise<void>;
}

export async function startMeasuredStage(): Promise<MeasuredStage> {
  const network = await spawnWhatsAppServer(join(packageRoot(), "dist/test/whatsapp-server/process/main.js"));
  await network.control.settings({ keepLedger: false });
  const gateway = await startMeasuredGateway(network);
  const load = spawnBenchProcess<LoadGenerator>("load-generator");
  const receiver = spawnBenchProcess<WebhookReceiver>("webhook-receiver");
  const libraries = new Map<number, BenchProcess<BareLibrary>>();
  const webhookUrl = await receiver.ask("listen", null);
  const sessions: PairedSession[] = [];
  const findProcesses = async (): Promise<Record<StageRole, ProcessTrees>> => {
    const { gateway: node, database } = await gateway.processes();
    return {
      gateway: [node],
      database: [database],
      network: [[network.pid]],
      receiver: [[receiver.pid]],
      load: [[load.pid]],
      library: [...libraries.values()].map(({ pid }) => [pid]),
    };
  };
  return {
    gateway,
    network,
    load,
    receiver,
    library(count) {
      const library = libraries.get(count) ?? spawnBenchProcess<BareLibrary>("bare-library");
      libraries.set(count, library);
      return library;
    },
    webhookUrl,
    async connect(count) {
      while (sessions.length < count) sessions.push(await connectOne(gateway, network));
      return sessions.slice(0, count);
    },
    async addPeople(count, options = { opaque: false }) {
      const phones: string[] = [];
      while (phones.length < count) phones.push((await network.control.addPerson(options)).phone);
      return phones;
    },
    meter: (work) => meterRoles(findProcesses, work),
    async stop() {
      for (const one of [load, receiver, ...libraries.values()]) one.stop();
      await gateway.stop();
      const unhandled = await network.control.unhandled();
      await network.close();
      if (unhandled.length > 0)
        throw new Error(`The WhatsApp server did not understand: ${unhandled.slice(0, 5).join("; ")}`);
    },
  };
}

async function connectOne(
  gateway: MeasuredGateway,
  { control }: WhatsAppServerProcess,
): Promise<PairedSession> {
  const { phone } = await control.addPerson();
  const session = await gateway.createSession();
  const qr = await poll(() => gateway.showQr(session), "a QR");
  await control.scan(phone, qr);
  await poll(() => gateway.isConnected(session), "the connection");
  return { ...session, phone };
}

/** Polls until the result is not empty. */
async function poll<Result>(ask: () => Promise<Result>, what: string): Promise<Result> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const result = await ask();
    if (result) return result;
    if (performance.now() > giveUpAt)
      throw new Error(`The gateway did not show ${what} of a new session within ${PATIENCE_MS} ms.`);
    await sleep(POLL_MS);
  }
}
