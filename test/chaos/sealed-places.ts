import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";

/** Who is where in a sealed network. */
export const PLACES = {
  /** An address of the outside world, which customers may call. */
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

/** Gives this network its addresses, and names to the name server that will listen here. */
export function furnish(scratchDir: string): void {
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

/** Listens at every internal address on this port, and counts who comes. */
export async function startTraps(port: number): Promise<{ hits(): number }> {
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

/** A server of the outside world; remembers the paths that it was asked for. */
export async function startOpenServer(
  port: number,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    request.resume().once("end", () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(port, PLACES.open, resolve));
  return { paths };
}
