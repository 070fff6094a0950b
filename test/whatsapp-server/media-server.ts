import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeAuthority } from "./certificates.ts";
import type { Network } from "./network.ts";

export const UPLOAD_AUTH = "upload-token";

/** The HTTPS side: files go up to /mms and come down from where they were put. */
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

/** The token in the path is the hash of what comes. */
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
