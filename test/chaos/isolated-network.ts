import { execFile, execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../src/platform/package-version.ts";
import type { ChaosRow, RoundFigures } from "./chaos-row.ts";

const PROGRAM = join(packageRoot(), "dist/test/chaos/isolated-network-main.js");
const WITHIN_MS = 240_000;

/** Runs a row in its own network namespace, with any address and without access to the outside. */
export function inIsolatedNetwork({ id, fault }: Pick<ChaosRow, "id" | "fault">): ChaosRow {
  return {
    id,
    fault,
    needs: ["root", "mount", "netns"],
    async run({ number, random }): Promise<RoundFigures> {
      const seed = String(random.next());
      const command = ["--net", "--mount", process.execPath, PROGRAM, id, seed, String(number)];
      const { stdout } = await promisify(execFile)("unshare", command, { timeout: WITHIN_MS });
      return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    },
  };
}

/** Addresses of the isolated network. */
export const PLACES = {
  /** A public address, which customers may call. */
  open: "93.184.215.14",
  metadata: "169.254.169.254",
  neighbour: "10.0.0.5",
  loopback: "127.0.0.1",
  metadataIpv6: "fd00:ec2::254",
  neighbourIpv6: "fd12:3456::5",
  nameServer: "127.0.0.53",
} as const;

export const INTERNAL_PLACES = [
  PLACES.metadata,
  PLACES.neighbour,
  PLACES.loopback,
  PLACES.metadataIpv6,
  PLACES.neighbourIpv6,
  "::1",
];

/** Assigns the addresses and points the resolver to the name server of the row. */
export function assignAddresses(scratchDir: string): void {
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: "pipe" });
  run("ip", "link", "set", "lo", "up");
  for (const address of [PLACES.open, PLACES.metadata, PLACES.neighbour]) {
    run("ip", "addr", "add", `${address}/32`, "dev", "lo");
  }
  for (const address of [PLACES.metadataIpv6, PLACES.neighbourIpv6]) {
    run("ip", "-6", "addr", "add", `${address}/128`, "dev", "lo", "nodad");
  }
  const names = join(scratchDir, "resolv.conf");
  writeFileSync(names, `nameserver ${PLACES.nameServer}\noptions timeout:1 attempts:1\n`);
  run("mount", "--bind", names, "/etc/resolv.conf");
}

/** Listens on this port of every internal address and counts connections. */
export async function startHoneypots(port: number): Promise<{ hits(): number }> {
  let hits = 0;
  for (const address of INTERNAL_PLACES) {
    const server = createServer((_, response) => response.end("secrets"));
    server.on("connection", () => {
      hits += 1;
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(port, address, resolve);
    });
  }
  return { hits: () => hits };
}

/** A public server that records the requested paths. */
export async function startOpenServer(
  port: number,
  respond: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    request.resume().once("end", () => respond(request, response));
  });
  await new Promise<void>((resolve) => server.listen(port, PLACES.open, resolve));
  return { paths };
}

/** DNS records of a name: addresses of both families, behind a CNAME if one is given. */
export interface DnsResponse {
  addresses: readonly string[];
  alias?: string;
}

/** The response to the nth query (from 1) for a name. Undefined: NXDOMAIN; "silence": no response. */
export type Zone = (name: string, nth: number) => DnsResponse | "silence" | undefined;

const TYPE = { A: 1, CNAME: 5, AAAA: 28 } as const;
const NO_SUCH_NAME = 3;

/** A UDP name server with a TTL of 0. A query for both families counts once. */
export async function startNameServer(address: string, zone: Zone): Promise<{ asked: Map<string, number> }> {
  const asked = new Map<string, number>();
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const { name, type, end } = readQuestion(query);
    // Resolvers query A and AAAA at the same time, so only A counts.
    if (type === TYPE.A) asked.set(name, (asked.get(name) ?? 0) + 1);
    const response = zone(name, Math.max(1, asked.get(name) ?? 1));
    if (response !== "silence")
      socket.send(reply(query.subarray(0, end), type, response), from.port, from.address);
  });
  socket.bind(53, address);
  await once(socket, "listening");
  return { asked };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function reply(question: Buffer, type: number, response: DnsResponse | undefined): Buffer {
  const { addresses = [], alias } = response ?? {};
  const wanted = addresses.filter((address) => isIPv6(address) === (type === TYPE.AAAA));
  const isKnown = type === TYPE.A || type === TYPE.AAAA;
  const records = [
    ...(alias === undefined ? [] : [record(Buffer.from([0xc0, 12]), TYPE.CNAME, encodeName(alias))]),
    ...(isKnown ? wanted : []).map((address) =>
      record(alias === undefined ? Buffer.from([0xc0, 12]) : encodeName(alias), type, encodeAddress(address)),
    ),
  ];
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | (response === undefined ? NO_SUCH_NAME : 0), 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...records]);
}

function record(name: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.byteLength, 8);
  return Buffer.concat([name, fixed, data]);
}

function encodeName(name: string): Buffer {
  const labels = name
    .split(".")
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function encodeAddress(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail = ""] = address.split("::");
  const groups = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: missing }, () => "0"), ...groups(tail)];
  return Buffer.from(
    all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  );
}
