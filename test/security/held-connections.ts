import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createE2eStory } from "../e2e/e2e-story.ts";
import { percentile, residentMb } from "../run/process-figures.ts";

export interface HeldConnectionsFigures {
  connections: number;
  /** Body bytes that each connection has sent; the rest never comes. */
  body_bytes_each: number;
  /** How many were refused before their body was complete. */
  refused_before_body: number;
  memory_before_mb: number;
  memory_most_mb: number;
  probes: number;
  /** Statuses for a wrong token meanwhile, each from another address. */
  statuses: Record<string, number>;
  ms_to_response: { p50: number; p95: number; most: number };
  /** The same from one address. */
  statuses_of_one_address: Record<string, number>;
}

export interface HeldConnectionsOptions {
  connections: number;
  probes: number;
  /** PostgreSQL server, outside of a test run. */
  server?: string;
}

const DECLARED_BYTES = 2 * 1024 * 1024;
const SENT_BYTES = 1_900_000;
const BODY = Buffer.alloc(SENT_BYTES, "[],");
/** Concurrent probes, so that a busy machine exceeds the limit within its minute. */
const AT_ONCE = 20;
const PATH = `/webhooks/chatwoot/1/${"w".repeat(32)}`;

/**
 * Unauthenticated clients hold connections to the Chatwoot webhook: each declares 2 MiB, sends most of it and stays.
 * Measures the latency of a 401 and the gateway's memory.
 */
export async function measureHeldConnections({
  connections,
  probes,
  server,
}: HeldConnectionsOptions): Promise<HeldConnectionsFigures> {
  const story = await createE2eStory({ WAYGATE_TRUSTED_PROXIES: "127.0.0.1" }, server);
  const held: Socket[] = [];
  try {
    const { url, pid } = await story.start();
    await probe(url, "10.255.0.1");
    const memory_before_mb = await residentMb(pid);
    let memory_most_mb = memory_before_mb;
    const watch = setInterval(async () => {
      memory_most_mb = Math.max(memory_most_mb, await residentMb(pid).catch(() => 0));
    }, 20);
    const statuses: Record<string, number> = {};
    const times: number[] = [];
    for (let n = 0; n < connections; n++) held.push(await hold(url, addressOf(n)));
    for (let n = 0; n < probes; n++) {
      const { status, ms } = await probe(url, addressOf(100_000 + n));
      statuses[status] = (statuses[status] ?? 0) + 1;
      times.push(ms);
    }
    const ofOne: Record<string, number> = {};
    for (let n = 0; n < 700; n += AT_ONCE) {
      const some = Array.from({ length: AT_ONCE }, () => probe(url, "10.254.0.1"));
      for (const { status } of await Promise.all(some)) ofOne[status] = (ofOne[status] ?? 0) + 1;
    }
    clearInterval(watch);
    return {
      connections,
      body_bytes_each: SENT_BYTES,
      refused_before_body: held.length,
      memory_before_mb: Math.round(memory_before_mb),
      memory_most_mb: Math.round(memory_most_mb),
      probes,
      statuses,
      ms_to_response: {
        p50: round(percentile(times, 0.5)),
        p95: round(percentile(times, 0.95)),
        most: round(Math.max(...times)),
      },
      statuses_of_one_address: ofOne,
    };
  } finally {
    for (const socket of held) socket.destroy();
    await story.end();
  }
}

/** Resolves when the gateway has refused it. The connection stays open with an incomplete body. */
async function hold(url: string, from: string): Promise<Socket> {
  const socket = await open(url);
  socket.write(headOf(from, DECLARED_BYTES));
  await statusOf(socket);
  socket.on("error", () => {});
  socket.write(BODY);
  return socket;
}

/** One complete request with a wrong token on a new connection. */
async function probe(url: string, from: string): Promise<{ status: number; ms: number }> {
  const began = performance.now();
  const socket = await open(url);
  socket.write(`${headOf(from, 2)}{}`);
  const status = await statusOf(socket);
  socket.destroy();
  return { status, ms: performance.now() - began };
}

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  return socket;
}

function headOf(from: string, bytes: number): string {
  const lines = [
    `POST ${PATH} HTTP/1.1`,
    "host: gateway",
    "content-type: application/json",
    `content-length: ${bytes}`,
    `x-forwarded-for: ${from}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

async function statusOf(socket: Socket): Promise<number> {
  const [response] = (await once(socket, "data")) as [Buffer];
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(response.toString("latin1"))?.[1]);
}

function addressOf(n: number): string {
  return `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
