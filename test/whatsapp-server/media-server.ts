import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Network } from "./network.ts";

const DAY_MS = 86_400_000;

const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts);

const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));

const ECDSA_SHA256 = sequence(oid("2a8648ce3d040302"));

const named = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(name, "utf8")))));

const time = (at: number): Buffer =>
  der(0x18, Buffer.from(`${new Date(at).toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`));

const extension = (id: string, value: Buffer, critical: boolean): Buffer =>
  sequence(oid(id), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value));

interface Subject {
  name: string;
  publicKey: KeyObject;
  extensions: Buffer[];
}

interface Authority {
  pem: string;
  /** Key and certificate for an IPv4 address of this machine. Proxy agents request its name instead. */
  issue(address: string): { key: string; cert: string };
}

export const UPLOAD_AUTH = "upload-token";

/** HTTPS server: uploads to /mms, downloads from the returned paths. */
export async function startMedia(network: Network): Promise<{ caFile: string; close(): Promise<void> }> {
  const authority = makeAuthority("Waygate test CA");
  const folder = await mkdtemp(join(tmpdir(), "whatsapp-server-"));
  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, authority.pem);
  const right = authority.issue("127.0.0.1");
  const server: Server = createServer(right, (request, response) => {
    handleRequest(network, request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  network.media.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    caFile,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function handleRequest(
  network: Network,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const upload = request.method === "POST";
  const fault = network.faults.take("media", undefined, (one) => (one.method === "upload") === upload);
  const { pathname, searchParams } = new URL(request.url ?? "/", "https://media");
  if (upload) {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const refused = fault?.status ?? refusalOf(pathname, searchParams, Buffer.concat(parts));
    const headers = fault?.location === undefined ? {} : { location: fault.location };
    if (refused !== undefined) return void response.writeHead(refused, headers).end();
    return void response.end(JSON.stringify(network.media.put("up", Buffer.concat(parts))));
  }
  const blob = network.media.get(pathname);
  const headers = fault?.location === undefined ? {} : { location: fault.location };
  if (fault || !blob) return void response.writeHead(fault?.status ?? 410, headers).end();
  ranged(request, response, network.faults.take("broken_seal", undefined) ? broken(blob) : blob);
}

function broken(blob: Buffer): Buffer {
  const other = Buffer.from(blob);
  other.writeUInt8((blob.at(-1) ?? 0) ^ 1, blob.length - 1);
  return other;
}

/** The token in the path is the hash of the body. */
function refusalOf(path: string, query: URLSearchParams, body: Buffer): number | undefined {
  const token = decodeURIComponent(path.split("/").at(-1) ?? "");
  const hash = createHash("sha256").update(body).digest("base64");
  const plain = (base64: string): string => base64.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  if (query.get("auth") !== UPLOAD_AUTH) return 401;
  return plain(token) === plain(hash) ? undefined : 400;
}

function ranged(request: IncomingMessage, response: ServerResponse, blob: Buffer): void {
  const [, from, to] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? "") ?? [];
  if (from === undefined) return void response.end(blob);
  const end = Math.min(to ? Number(to) : blob.length - 1, blob.length - 1);
  response.writeHead(206, { "content-range": `bytes ${from}-${end}/${blob.length}` });
  response.end(blob.subarray(Number(from), end + 1));
}

/** DER: tag, length, content. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function certificate(subject: Subject, issuer: { name: string; privateKey: KeyObject }): string {
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(12)]);
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_SHA256,
    named(issuer.name),
    sequence(time(Date.now() - DAY_MS), time(Date.now() + 365 * DAY_MS)),
    named(subject.name),
    subject.publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...subject.extensions)),
  );
  const signature = sign("sha256", body, issuer.privateKey);
  const whole = sequence(body, ECDSA_SHA256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** A certificate authority for the lifetime of the process. */
export function makeAuthority(name: string): Authority {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ca = [
    extension("551d13", sequence(der(0x01, Buffer.from([0xff]))), true),
    extension("551d0f", der(0x03, Buffer.from([1, 0x06])), true),
  ];
  const pem = certificate({ name, publicKey, extensions: ca }, { name, privateKey });
  return {
    pem,
    issue(address) {
      const leaf = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const ip = der(0x87, Buffer.from(address.split(".").map(Number)));
      const names = extension("551d11", sequence(ip, der(0x82, Buffer.from("localhost"))), false);
      const subject = { name: address, publicKey: leaf.publicKey, extensions: [names] };
      const cert = certificate(subject, { name, privateKey });
      return { key: leaf.privateKey.export({ type: "pkcs8", format: "pem" }).toString(), cert };
    },
  };
}
