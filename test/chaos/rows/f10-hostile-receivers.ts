import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { E2eStory } from "../../e2e/e2e-story.ts";
import { waitUntil } from "../../gateway.ts";
import { residentMb } from "../../run/process-figures.ts";
import type { ChaosRow, Round, RoundFigures } from "../chaos-row.ts";
import {
  compareLoads,
  crowdedMachine,
  type Endpoint,
  findNeedless,
  type LoadOutcome,
  pairEach,
  readLoad,
  receiveSteadily,
} from "../steady-load.ts";

/** A hostile receiver with a ledger of its connections. */
export interface HostileReceiver {
  name: string;
  url: string;
  /** Age of each connection in ms. */
  connectionMs(): number[];
  /** Bytes that it could send. */
  sent(): number;
  close(): Promise<void>;
}

interface Variant {
  name: string;
  scheme?: "http" | "https";
  /** Runs after a request has arrived, which a hanging TLS handshake never reaches. */
  respond(socket: Socket): void;
}

const OK = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
const MIB = Buffer.alloc(1024 * 1024, "x");
const DRIP_MS = 100;

const VARIANTS: readonly Variant[] = [
  { name: "never answers", respond: () => {} },
  { name: "drips its headers", respond: (socket) => drip(socket, `${OK}x-slow: `, "a") },
  { name: "drips its body", respond: (socket) => drip(socket, `${OK}content-length: 100000\r\n\r\n`, "b") },
  {
    name: "answers with 500 MB",
    respond: (socket) => pour(socket, `${OK}content-length: 524288000\r\n\r\n`, 500),
  },
  { name: "answers with a gzip bomb", respond: bomb },
  {
    name: "answers with 10,000 headers",
    respond: (socket) =>
      void socket.write(`${OK}${"x-many: yes\r\n".repeat(10_000)}content-length: 0\r\n\r\n`),
  },
  {
    name: "floods with 1xx",
    respond: (socket) => drip(socket, "", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100)),
  },
  { name: "resets in the body", respond: breakOff },
  { name: "hangs in the TLS handshake", scheme: "https", respond: () => {} },
];

export function startHostileReceivers(): Promise<HostileReceiver[]> {
  return Promise.all(VARIANTS.map(startReceiver));
}

async function startReceiver({ name, scheme = "http", respond }: Variant): Promise<HostileReceiver> {
  const connections: { openedAt: number; closedAt?: number }[] = [];
  const sockets = new Set<Socket>();
  let gone = 0;
  const server: Server = createServer((socket) => {
    const connection: (typeof connections)[number] = { openedAt: performance.now() };
    connections.push(connection);
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      connection.closedAt = performance.now();
      gone += socket.bytesWritten;
      sockets.delete(socket);
    });
    socket.once("data", () => respond(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    name,
    connectionMs: () =>
      connections.map(({ openedAt, closedAt }) => (closedAt ?? performance.now()) - openedAt),
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    sent: () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, gone),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Sends a small piece now and then, endlessly. */
function drip(socket: Socket, head: string, piece: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(piece), DRIP_MS);
  socket.once("close", () => clearInterval(timer));
}

/** Sends as fast as the client reads. */
function pour(socket: Socket, head: string, mebibytes: number): void {
  let left = mebibytes;
  socket.write(head);
  const more = (): void => {
    for (; left > 0; left -= 1) if (socket.destroyed || !socket.write(MIB)) break;
  };
  socket.on("drain", more);
  more();
}

/** 210 MB as a gzip body of 200 kB. */
function bomb(socket: Socket): void {
  const body = BOMB;
  socket.write(`${OK}content-encoding: gzip\r\ncontent-length: ${body.byteLength}\r\n\r\n`);
  socket.write(body);
}
const BOMB = gzipSync(Buffer.alloc(210_000_000));

function breakOff(socket: Socket): void {
  socket.write(`${OK}content-length: 1000\r\n\r\nhalf`, () => socket.resetAndDestroy());
}

const TIMEOUT_MS = 2_000;
const LATE_MS = 500;
const MOST_GROWTH_MB = 32;
const MOST_RISE = 0.2;
/** The client notices the end slightly later. */
const LEDGER_LATE_MS = 1_000;
/** The connect timeout ends a connection that is not open yet. */
const CONNECT_MS = 5_000;
/** Long enough that nine deliveries are above p99: a single slow disk write does not decide it. */
const LOAD = { perSecond: 30, seconds: 30 };

/** F10: receivers that hang, drip, flood and reset. Each call ends in time without affecting other receivers. */
export const f10: ChaosRow = {
  id: "F10",
  fault: "slow and hostile receivers",
  async run(round) {
    const story = await round.story({
      WAYGATE_WEBHOOK_TIMEOUT: `${TIMEOUT_MS}ms`,
      WAYGATE_RETRY_SCHEDULE: "1s,7d",
    });
    await story.start();
    const healthy = await pairEach(
      story,
      Array.from({ length: 4 }, () => story.receiver.url),
    );
    const hostile = await startHostile(round, story);
    const others = await pairEach(
      story,
      hostile.map(() => story.receiver.url),
    );
    const { pid } = story.gateway;
    const warmUp = await watchMemory(pid, () => loadBeside(others, () => load(story, healthy, "warm-up")));
    const calm = await watchMemory(pid, () => loadBeside(others, () => load(story, healthy, "calm")));
    const crowded = crowdedMachine();
    const attackers = hostile.map(({ endpoint }) => endpoint);
    const noisy = await watchMemory(pid, async () => {
      const outcome = await loadBeside(attackers, () => load(story, healthy, "noisy"));
      await waitUntil(() => hostile.every(isReached)).catch(() => {});
      await delay(TIMEOUT_MS + LATE_MS);
      return outcome;
    });
    const tries = await readTries(hostile);
    const needless = await findNeedless(story, [calm.outcome, noisy.outcome]);
    // Memory of a young process grows with good receivers too.
    const usualMb = Math.max(0, calm.peakMb - warmUp.peakMb);
    const grownMb = Math.max(0, noisy.peakMb - calm.peakMb - usualMb);
    return toHostileFigures({
      calm: calm.outcome,
      noisy: noisy.outcome,
      needless,
      grownMb,
      tries,
      hostile,
      crowded,
    });
  },
};

interface Attacker {
  receiver: HostileReceiver;
  endpoint: Endpoint;
}

function isReached({ receiver }: Attacker): boolean {
  return receiver.connectionMs().length > 0;
}

async function startHostile(round: Round, story: E2eStory): Promise<Attacker[]> {
  const receivers = await startHostileReceivers();
  for (const receiver of receivers) round.afterwards(() => receiver.close());
  const endpoints = await pairEach(
    story,
    receivers.map(({ url }) => url),
  );
  return receivers.flatMap((receiver, index) => {
    const endpoint = endpoints[index];
    return endpoint ? [{ receiver, endpoint }] : [];
  });
}

async function load(story: E2eStory, healthy: Endpoint[], name: string): Promise<LoadOutcome> {
  return readLoad(await receiveSteadily(healthy, { name, ...LOAD }), [story.receiver]);
}

/** Keeps a low load on each of the others meanwhile, hostile or not. */
async function loadBeside(others: readonly Endpoint[], measure: () => Promise<LoadOutcome>) {
  let isOver = false;
  const keepBusy = async (): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      // One text to each.
      await receiveSteadily(others, { name: `beside-${n}`, perSecond: 5, seconds: others.length / 5 });
    }
  };
  const busy = keepBusy();
  const outcome = await measure();
  isOver = true;
  await busy;
  return outcome;
}

/** Peak memory of the process during the work. */
async function watchMemory(pid: number, work: () => Promise<LoadOutcome>) {
  let peakMb = 0;
  const look = async (): Promise<void> => {
    peakMb = Math.max(peakMb, await residentMb(pid));
  };
  const timer = setInterval(() => void look().catch(() => {}), 100);
  try {
    const outcome = await work();
    await look();
    return { outcome, peakMb };
  } finally {
    clearInterval(timer);
  }
}

interface Try {
  name: string;
  ms: number;
  error: string | null;
}

async function readTries(hostile: readonly Attacker[]): Promise<Try[]> {
  const lists = hostile.map(async ({ receiver: { name }, endpoint: { client, id } }) => {
    const { data } = await client.listDeliveryLogs({ id, limit: 200 });
    return data.map(({ duration_ms, error_class }) => ({ name, ms: duration_ms, error: error_class }));
  });
  return (await Promise.all(lists)).flat();
}

interface Seen {
  calm: LoadOutcome;
  noisy: LoadOutcome;
  needless: string[];
  grownMb: number;
  tries: Try[];
  hostile: Attacker[];
  /** Why the times are not checked, if they are not. */
  crowded: string | undefined;
}

function toHostileFigures({ calm, noisy, needless, grownMb, tries, hostile, crowded }: Seen): RoundFigures {
  const longest = Math.max(...tries.map(({ ms }) => ms));
  const untried = hostile.filter(({ receiver }) => !tries.some(({ name }) => name === receiver.name));
  const stuck = hostile.flatMap(({ receiver }) => findStuck(receiver));
  const compared = compareLoads(calm, noisy, MOST_RISE);
  const late = [longest > TIMEOUT_MS + LATE_MS && `a try took ${longest} ms`, ...stuck];
  const breaches = [
    ...needless,
    ...(crowded ? [] : late),
    ...untried.map(({ receiver }) => `no try at the receiver that ${receiver.name}`),
    grownMb >= MOST_GROWTH_MB && `memory grew by ${grownMb.toFixed(0)} MB`,
    !crowded && compared.isTooMuch && `healthy p99 rose: ${compared.word}`,
    calm.lost + noisy.lost > 0 && "healthy receivers lost events",
  ];
  return {
    events: 2 * LOAD.perSecond * LOAD.seconds,
    lost: calm.lost + noisy.lost,
    duplicateDeliveries: calm.duplicates + noisy.duplicates,
    measured: {
      "tries at hostile receivers": tries.length,
      [`longest try, of ${TIMEOUT_MS} (ms)`]: longest,
      "memory grown (MB)": Math.round(grownMb),
      "healthy p99 calm / beside them (ms)": compared.word,
      "read of 500 MB (MB)": Math.round(poured(hostile) / 2 ** 20),
    },
    notJudged: crowded ?? compared.notJudged,
    breaches: breaches.filter((one) => one !== false),
  };
}

/** Connections older than a call may take. One with a complete response is kept for reuse. */
function findStuck({ name, connectionMs }: HostileReceiver): string[] {
  const endMs = name === "hangs in the TLS handshake" ? CONNECT_MS : TIMEOUT_MS;
  const stuck = connectionMs().filter((ms) => ms > endMs + LEDGER_LATE_MS);
  if (stuck.length === 0 || name === "answers with a gzip bomb") return [];
  return [`${stuck.length} connections stood for up to ${Math.max(...stuck).toFixed(0)} ms: ${name}`];
}

function poured(hostile: readonly Attacker[]): number {
  const calls = hostile.find(({ receiver }) => receiver.name === "answers with 500 MB")?.receiver;
  return calls ? calls.sent() / Math.max(1, calls.connectionMs().length) : 0;
}
