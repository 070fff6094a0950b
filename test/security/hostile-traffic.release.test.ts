import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { buildDist } from "../run/build-dist.ts";
import { startProbedGateway } from "./probed-gateway.ts";
import { headOf, openSocket, type RawHead, requestOf, statusOf } from "./raw-request.ts";
import { isFullRun, printFigures } from "./run-size.ts";

interface AttackFigures {
  attack: string;
  /** Held connections or sent requests. */
  size: number;
  /** Statuses of the attack's requests; 0 means closed without a response. */
  statuses: Record<string, number>;
  /** Statuses of health checks, and of messages sent meanwhile. */
  health: Record<string, number>;
  sends: Record<string, number>;
  longest_health_ms: number;
  longest_send_ms: number;
  /** Longest event loop delay. */
  longest_loop_ms: number;
  memory_before_mb: number;
  memory_most_mb: number;
}

interface HostileTrafficOptions {
  /** Number of slow connections. */
  connections: number;
  /** Repetitions of each bomb, eight at a time. */
  bombs: number;
  /** Health checks and messages while connections are held. */
  rounds: number;
  /** Maximum concurrent requests of the gateway. */
  maxRequests?: number;
}

interface Stage {
  url: string;
  key: string;
  instance: number;
}

/** Interval of a slow sender's bytes. */
const DRIP_MS = 100;
const AT_ONCE = 8;
const MIB = 1_048_576;

/** Unauthenticated clients and a tenant send slowly and send bombs, while another tenant uses the gateway. */
async function measureHostileTraffic(options: HostileTrafficOptions): Promise<AttackFigures[]> {
  const gateway = await startProbedGateway({
    WAYGATE_TRUSTED_PROXIES: "127.0.0.1",
    WAYGATE_UNKNOWN_RATE: "0",
    ...(options.maxRequests && { WAYGATE_MAX_REQUESTS: String(options.maxRequests) }),
  });
  try {
    const { id: instance, api_key: key } = await gateway.story.pair();
    const stage = { url: gateway.url, key, instance };
    const attacks = [...slowAttacks(stage, options), ...bombAttacks(stage, options)];
    const figures: AttackFigures[] = [];
    for (const attack of attacks) figures.push(await measure(attack, stage, gateway.read));
    return figures;
  } finally {
    await gateway.end();
  }
}

interface Attack {
  name: string;
  size: number;
  /** Resolves with the statuses. `bystander` uses the gateway once as a customer does. */
  run(bystander: () => Promise<void>): Promise<Record<string, number>>;
}

async function measure(
  { name, size, run }: Attack,
  stage: Stage,
  read: () => Promise<{ longest_ms: number; rss_mb: number }>,
): Promise<AttackFigures> {
  const before = await read();
  const figures: AttackFigures = {
    attack: name,
    size,
    statuses: {},
    health: {},
    sends: {},
    longest_health_ms: 0,
    longest_send_ms: 0,
    longest_loop_ms: 0,
    memory_before_mb: Math.round(before.rss_mb),
    memory_most_mb: 0,
  };
  const look = async () => {
    const { longest_ms, rss_mb } = await read();
    figures.longest_loop_ms = Math.max(figures.longest_loop_ms, Math.round(longest_ms));
    figures.memory_most_mb = Math.max(figures.memory_most_mb, Math.round(rss_mb));
  };
  figures.statuses = await run(async () => {
    await useAsCustomer(stage, figures);
    await look();
  });
  await look();
  return figures;
}

async function useAsCustomer({ url, key, instance }: Stage, figures: AttackFigures): Promise<void> {
  const health = await timed(() => fetch(`${url}/health/live`));
  const sent = await timed(() =>
    fetch(`${url}/api/v1/instances/${instance}/send-text`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ number: "5511988881234", text: "Hello" }),
    }),
  );
  count(figures.health, health.status);
  count(figures.sends, sent.status);
  figures.longest_health_ms = Math.max(figures.longest_health_ms, health.ms);
  figures.longest_send_ms = Math.max(figures.longest_send_ms, sent.ms);
}

async function timed(request: () => Promise<Response>): Promise<{ status: number; ms: number }> {
  const began = performance.now();
  const response = await request();
  await response.arrayBuffer();
  return { status: response.status, ms: Math.round(performance.now() - began) };
}

function count(statuses: Record<string, number>, status: number): void {
  statuses[status] = (statuses[status] ?? 0) + 1;
}

function slowAttacks(
  { key, instance, url }: Stage,
  { connections, rounds }: HostileTrafficOptions,
): Attack[] {
  const post = (path: string, bytes: number, more: string[]): RawHead => ({
    method: "POST",
    path,
    headers: ["content-type: application/json", `content-length: ${bytes}`, ...more],
  });
  const send = `/api/v1/instances/${instance}/send-text`;
  const starts: Record<string, (nth: number) => string> = {
    "headers byte by byte": () => "GET /health HTTP/1.1\r\nhost: gateway\r\nx-slow: ",
    "bodies of sign-ins byte by byte": (nth) =>
      `${headOf(post("/api/auth/login", 60_000, [`x-forwarded-for: ${addressOf(nth)}`]))}${"x".repeat(50_000)}`,
    "bodies with a wrong key byte by byte": () => headOf(post(send, MIB, ["x-api-key: wrong"])),
  };
  const ofTenant = () => `${headOf(post(send, MIB, [`x-api-key: ${key}`]))}"${"x".repeat(900_000)}`;
  const held = (name: string, size: number, start: (nth: number) => string): Attack => ({
    name,
    size,
    run: (bystander) => drip({ url, size, start, rounds, bystander }),
  });
  return [
    ...Object.entries(starts).map(([name, start]) => held(name, connections, start)),
    held("large bodies of a tenant byte by byte", Math.min(connections, 200), ofTenant),
  ];
}

interface Drip {
  url: string;
  size: number;
  start: (nth: number) => string;
  rounds: number;
  bystander: () => Promise<void>;
}

async function drip({ url, size, start, rounds, bystander }: Drip): Promise<Record<string, number>> {
  const sockets: Socket[] = [];
  const statuses: Record<string, number> = {};
  for (let nth = 0; nth < size; nth++) {
    const socket = await openSocket(url);
    socket.once("data", (piece: Buffer) => count(statuses, Number(piece.toString("latin1", 9, 12))));
    socket.write(start(nth));
    sockets.push(socket);
  }
  const dripping = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write("x");
  }, DRIP_MS);
  for (let round = 0; round < rounds; round++) {
    await bystander();
    await delay(DRIP_MS);
  }
  clearInterval(dripping);
  const open = sockets.filter(({ destroyed }) => !destroyed).length;
  for (const socket of sockets) socket.destroy();
  return { ...statuses, still_open: open };
}

function bombAttacks(stage: Stage, { bombs }: HostileTrafficOptions): Attack[] {
  return Object.entries({ ...bodyBombs(stage), ...headerBombs(), ...formBombs(stage) }).map(
    ([name, bytes]) => ({
      name,
      size: bombs,
      async run(bystander) {
        const statuses: Record<string, number> = {};
        for (let from = 0; from < bombs; from += AT_ONCE) {
          const sent = Array.from({ length: AT_ONCE }, () => statusOf(stage.url, bytes));
          await bystander();
          for (const status of await Promise.all(sent)) count(statuses, status);
        }
        return statuses;
      },
    }),
  );
}

function bodyBombs({ key, instance }: Stage): Record<string, Buffer> {
  const json = (path: string, body: string | Buffer, ...more: string[]) =>
    requestOf(
      { method: "POST", path, headers: ["content-type: application/json", `x-api-key: ${key}`, ...more] },
      Buffer.from(body),
    );
  const send = `/api/v1/instances/${instance}/send-text`;
  const full = MIB - 100;
  const keys = (most: number) => {
    const pieces: string[] = [];
    for (let at = 0, bytes = 2; bytes < most - 20; at++)
      bytes += pieces[pieces.push(`"k${at}":0`) - 1]?.length ?? 0 + 1;
    return `{${pieces.join(",")}}`.slice(0, most);
  };
  return {
    "a body of many lists, of a stranger": json("/api/auth/login", `[${"[],".repeat(21_000)}0]`),
    "a deep body, of a stranger": json("/api/auth/login", "[".repeat(65_000)),
    "a body of many lists": json(send, `[${"[],".repeat(full / 3 - 10)}0]`),
    "a body of many numbers": json(send, `[${"0,".repeat(full / 2 - 10)}0]`),
    "a deep body": json(send, "[".repeat(full)),
    "a deep body of objects": json(send, '{"a":'.repeat(full / 5)),
    "a body of many names": json(send, keys(full * 0.8)),
    "one name again and again": json(send, `{${'"number":"1",'.repeat(60_000)}"text":"x"}`),
    "the name __proto__ again and again": json(send, `{${'"__proto__":{},'.repeat(60_000)}"text":"x"}`),
    "a number of a million digits": json(send, `{"number":${"9".repeat(full - 30)}}`),
    "a text of escapes": json(send, `{"number":"1","text":"${"\\u0000".repeat(150_000)}"}`),
    "quotes that do not end": json(send, `"${'\\"'.repeat(full / 2 - 10)}`),
    "a body that is longer than allowed": json(send, Buffer.alloc(64 * MIB, "x")),
    "a compressed bomb": json(send, gzipSync(Buffer.alloc(64 * MIB)), "content-encoding: gzip"),
    "a body in chunks of one byte": inChunks(send, { number: "1", text: "x".repeat(50_000) }, [
      `x-api-key: ${key}`,
    ]),
    "a sign-in without a length": inChunks("/api/auth/login", { email: "a@example.com", password: "x" }, []),
  };
}

function inChunks(path: string, body: object, more: string[]): Buffer {
  const headers = [
    "content-type: application/json",
    "transfer-encoding: chunked",
    "connection: close",
    ...more,
  ];
  const chunks = [...JSON.stringify(body)].map((letter) => `1\r\n${letter}\r\n`).join("");
  return Buffer.from(`${headOf({ method: "POST", path, headers })}${chunks}0\r\n\r\n`);
}

function headerBombs(): Record<string, Buffer> {
  const get = (...headers: string[]) =>
    Buffer.from(headOf({ path: "/api/v1/instances", headers: [...headers, "connection: close"] }), "latin1");
  return {
    "one header of a megabyte": get(`x-long: ${"x".repeat(MIB)}`),
    "a name of a megabyte": get(`${"x".repeat(MIB)}: x`),
    "a hundred thousand headers": get(...Array.from({ length: 100_000 }, (_, at) => `x-${at}: x`)),
    "as many short headers as fit": get(...Array.from({ length: 2_300 }, () => "a: b")),
    "as many forwarders as fit": get(`x-forwarded-for: ${"1,".repeat(7_900)}1`),
    "as many accepted types as fit": get(`accept: ${"a/b,".repeat(3_900)}*/*`),
    "an address of a megabyte": Buffer.from(headOf({ path: `/${"x".repeat(MIB)}` })),
    "a query of many fields": Buffer.from(
      headOf({ path: `/health?${"a&".repeat(7_900)}`, headers: ["connection: close"] }),
    ),
    "long extensions of chunks": Buffer.concat([
      Buffer.from(
        headOf({
          method: "POST",
          path: "/api/auth/login",
          headers: ["content-type: application/json", "transfer-encoding: chunked"],
        }),
      ),
      Buffer.from(`1;${"x".repeat(MIB)}\r\nx\r\n0\r\n\r\n`),
    ]),
  };
}

function formBombs({ key, instance }: Stage): Record<string, Buffer> {
  const form = (body: string | Buffer, boundary = "b") =>
    requestOf(
      {
        method: "POST",
        path: `/api/v1/instances/${instance}/send-media`,
        headers: [`content-type: multipart/form-data; boundary=${boundary}`, `x-api-key: ${key}`],
      },
      Buffer.from(body),
    );
  const part = (name: string, more = "") =>
    `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\nx\r\n`;
  return {
    "a form of many parts": form(`${part("caption").repeat(60_000)}--b--\r\n`),
    "a form of many files": form(`${part("file", '; filename="a"').repeat(50_000)}--b--\r\n`),
    "a part with a header of a megabyte": form(part("x".repeat(4 * MIB))),
    "a part with many headers": form(`--b\r\n${"x: y\r\n".repeat(500_000)}\r\nx\r\n--b--\r\n`),
    "a form that does not begin": form(Buffer.alloc(16 * MIB, "-")),
    "a form of nearly its boundary": form(`--bb\r\n`.repeat(2_000_000), "bb".repeat(35)),
  };
}

function addressOf(nth: number): string {
  return `10.${(nth >> 16) & 255}.${(nth >> 8) & 255}.${nth & 255}`;
}

beforeAll(buildDist);

const CUT = { connections: 150, bombs: 8, rounds: 3, maxRequests: 100 };
const FULL = { connections: 2_500, bombs: 80, rounds: 250 };
/** Memory limit of one attack: its concurrent bodies as bytes, text and values. */
const MOST_RISE_MB = 400;
/** Memory limit of all attacks, because Node keeps part of its heap. */
const MOST_RISE_OF_ALL_MB = 800;

test("slow connections and bombs in bodies, headers and forms block no client and use bounded memory", {
  timeout: 1_200_000,
}, async () => {
  const figures = await measureHostileTraffic(isFullRun ? FULL : CUT);
  printFigures("Hostile traffic", figures);
  const first = figures[0]?.memory_before_mb ?? 0;
  expect(figures.filter((one) => one.memory_most_mb - one.memory_before_mb > MOST_RISE_MB)).toEqual([]);
  expect(figures.filter((one) => one.memory_most_mb - first > MOST_RISE_OF_ALL_MB)).toEqual([]);
  expect(figures.filter((one) => !isServed(one))).toEqual([]);
  for (const attack of ["a body in chunks of one byte", "a sign-in without a length"]) {
    const refused = figures.find((one) => one.attack === attack);
    expect(refused?.statuses).toEqual({ 400: refused?.size });
  }
  expect(figures.flatMap(({ attack, statuses }) => (statuses[500] ? [attack] : []))).toEqual([]);
});

function isServed({ health, sends }: AttackFigures): boolean {
  return Object.keys(health).join() === "200" && Object.keys(sends).join() === "200";
}
