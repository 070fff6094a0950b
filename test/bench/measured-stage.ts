import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { packageRoot } from "../../src/platform/config/package-version.ts";
import { type ProcessUse, readUse } from "../process-figures.ts";
import { spawnWhatsAppServer, type WhatsAppServerProcess } from "../whatsapp-server/server-process.ts";
import {
  type BenchNetwork,
  type GatewaySession,
  type GatewayUnderTest,
  loadAdapter,
} from "./gateways/gateway-adapter.ts";
import type { BareLibrary } from "./processes/bare-library.ts";
import { type BenchProcess, spawnBenchProcess } from "./processes/bench-process.ts";
import type { LoadGenerator } from "./processes/load-generator.ts";
import type { WebhookReceiver } from "./processes/webhook-receiver.ts";

const ROLES = ["gateway", "database", "network", "receiver", "load", "library"] as const;
export type Role = (typeof ROLES)[number];

/** A result with what each process has computed meanwhile and holds at the end. */
export interface Metered<Result> {
  result: Result;
  use: Record<Role, ProcessUse>;
}

export interface PairedSession extends GatewaySession {
  phone: string;
}

/** A gateway, a WhatsApp server, a receiver of webhooks, a load and Baileys alone, each in processes of its own. */
export interface MeasuredStage {
  adapter: string;
  gateway: GatewayUnderTest;
  network: WhatsAppServerProcess;
  load: BenchProcess<LoadGenerator>;
  receiver: BenchProcess<WebhookReceiver>;
  library: BenchProcess<BareLibrary>;
  webhookUrl: string;
  /** Pairs until there are so many connected sessions, and returns these. */
  connect(count: number): Promise<PairedSession[]>;
  /** People who can be written to; opaque ones read nothing. */
  addPeople(count: number, options?: { opaque: boolean }): Promise<string[]>;
  meter<Result>(work: () => Promise<Result>): Promise<Metered<Result>>;
  stop(): Promise<void>;
}

export async function startMeasuredStage(adapterPath: string, nodes = 1): Promise<MeasuredStage> {
  const adapter = await loadAdapter(adapterPath);
  const network = await spawnWhatsAppServer(join(packageRoot(), "dist/test/whatsapp-server/main.js"));
  await network.control.settings({ keepLedger: false });
  const gateway = await adapter.start(toNetwork(network), { nodes });
  const load = spawnBenchProcess<LoadGenerator>("load-generator");
  const receiver = spawnBenchProcess<WebhookReceiver>("webhook-receiver");
  const library = spawnBenchProcess<BareLibrary>("bare-library");
  const webhookUrl = await receiver.ask("listen", { adapter: adapterPath });
  const sessions: PairedSession[] = [];
  const readAll = async (): Promise<Record<Role, ProcessUse>> => {
    const { gateway: nodePids, database } = await gateway.processes();
    const pids = [nodePids, database, [network.pid], [receiver.pid], [load.pid], [library.pid]];
    const uses = await Promise.all(pids.map((list, n) => (n === 0 ? readNodes(list) : readUse(list))));
    return Object.fromEntries(ROLES.map((role, n) => [role, uses[n]])) as Record<Role, ProcessUse>;
  };
  return {
    adapter: adapterPath,
    gateway,
    network,
    load,
    receiver,
    library,
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
    async meter(work) {
      const before = await readAll();
      const result = await work();
      const after = await readAll();
      for (const role of ROLES) after[role].cpuMs -= before[role].cpuMs;
      return { result, use: after };
    },
    async stop() {
      for (const one of [load, receiver, library]) one.stop();
      await gateway.stop();
      const unhandled = await network.control.unhandled();
      await network.close();
      if (unhandled.length > 0)
        throw new Error(`The WhatsApp server did not understand: ${unhandled.slice(0, 5).join("; ")}`);
    },
  };
}

function toNetwork({ url, rootKeyHex, caFile }: WhatsAppServerProcess): BenchNetwork {
  return { url, rootKeyHex, caFile };
}

/** Nodes are no children of each other. */
async function readNodes(pids: readonly number[]): Promise<ProcessUse> {
  const uses = await Promise.all(pids.map((pid) => readUse([pid])));
  const sum = (of: keyof ProcessUse) => uses.reduce((all, use) => all + use[of], 0);
  return { cpuMs: sum("cpuMs"), proportionalMb: sum("proportionalMb") };
}

async function connectOne(
  gateway: GatewayUnderTest,
  { control }: WhatsAppServerProcess,
): Promise<PairedSession> {
  const { phone } = await control.addPerson();
  const session = await gateway.createSession();
  let qr = await gateway.showQr(session);
  while (qr === "") {
    await sleep(50);
    qr = await gateway.showQr(session);
  }
  await control.scan(phone, qr);
  while (!(await gateway.isConnected(session))) await sleep(20);
  return { ...session, phone };
}
