import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getHttpStream, uploadWithNodeHttp } from "baileys";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ProxyServer, startHttpProxy, startSocksProxy } from "../../../../test/servers/proxy-server.ts";
import { makeAuthority } from "../../../../test/whatsapp-server/media-server.ts";
import { trustCertificates } from "../../../../test/whatsapp-server/protocol/trust.ts";
import { MediaHosts } from "../media-hosts.ts";
import {
  createSessionTransport,
  type SessionEgress,
  type SessionTransport,
  type SessionTransportOptions,
} from "../session-transport.ts";

const MEGABYTE = 1024 * 1024;

let folder: string;
let distrust: () => void;
let files: Server;
let hostile: Server;
/** All connections, including those without a request. */
let hits = 0;
let httpProxy: ProxyServer;
let socksProxy: ProxyServer;

const hostOf = (server: Server) => `127.0.0.1:${(server.address() as AddressInfo).port}`;

const respond: RequestListener = (request, response) => {
  const { pathname } = new URL(request.url ?? "/", "https://files");
  request.resume();
  if (pathname === "/redirect") response.writeHead(302, { location: `https://${hostOf(hostile)}/x` }).end();
  else if (pathname === "/endless") void flood(response);
  else response.end(JSON.stringify({ url: "https://files/x", direct_path: "/x" }));
};

async function flood(response: Parameters<RequestListener>[1]): Promise<void> {
  while (!response.destroyed) {
    if (!response.write(Buffer.alloc(MEGABYTE)))
      await new Promise((next) => response.once("drain", next).once("close", next));
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waygate-files-"));
  const authority = makeAuthority("Waygate test CA");
  await writeFile(join(folder, "ca.pem"), authority.pem);
  await writeFile(join(folder, "file"), "content");
  distrust = trustCertificates(join(folder, "ca.pem"));
  files = createServer(authority.issue("127.0.0.1"), respond);
  hostile = createServer(authority.issue("127.0.0.1"), respond);
  hostile.on("connection", () => hits++);
  for (const server of [files, hostile])
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  [httpProxy, socksProxy] = [await startHttpProxy(), await startSocksProxy()];
});

afterAll(async () => {
  distrust();
  for (const server of [files, hostile]) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
  for (const proxy of [httpProxy, socksProxy]) await proxy.close();
  await rm(folder, { recursive: true });
});

afterEach(() => {
  expect(hits).toBe(0);
  expect([...httpProxy.targets, ...socksProxy.targets]).not.toContain(hostOf(hostile));
});

const open = (options: SessionTransportOptions = {}, egress: SessionEgress = {}): SessionTransport =>
  createSessionTransport(
    options,
    egress,
    new MediaHosts({ networkUrl: "ws://127.0.0.1:1/", named: () => hostOf(files) }),
  );

/** Directly, through the gateway's own proxy, and through a session's proxy. */
const TRANSPORTS: [string, () => SessionTransport][] = [
  ["straight", () => open()],
  ["through the gateway's proxy", () => open({}, { proxy: `http://127.0.0.1:${httpProxy.port}` })],
  ["through the session's HTTP proxy", () => open({ proxy: `http://127.0.0.1:${httpProxy.port}` })],
  ["through the session's SOCKS proxy", () => open({ proxy: `socks5://127.0.0.1:${socksProxy.port}` })],
];

/** The three kinds of transfers: the gateway's downloads, and Baileys' downloads and uploads. */
const fetchOurs = async (transport: SessionTransport, host: string, path: string) => {
  const { status, body } = await transport.fetchFile(new URL(`https://${host}${path}`));
  for await (const _ of body);
  return status;
};
const fetchByBaileys = async (transport: SessionTransport, host: string, path: string) => {
  for await (const _ of await getHttpStream(`https://${host}${path}`, transport.options));
  return 200;
};
const uploadByBaileys = async (transport: SessionTransport, host: string, path: string) => {
  const filePath = join(folder, "file");
  const done = await uploadWithNodeHttp({
    url: `https://${host}${path}`,
    filePath,
    headers: {},
    agent: transport.fetchAgent as never,
  });
  return done === undefined ? 0 : 200;
};

describe.each(TRANSPORTS)("a file that is transferred %s", (_, transport) => {
  it.each([
    ["our downloads", fetchOurs],
    ["downloads of Baileys", fetchByBaileys],
    ["uploads of Baileys", uploadByBaileys],
  ])("reaches the host that the network names and no other: %s", async (__, move) => {
    expect(await move(transport(), hostOf(files), "/x")).toBe(200);
    await expect(move(transport(), hostOf(hostile), "/x")).rejects.toThrow();
    await expect(move(transport(), hostOf(files), "/redirect")).rejects.toThrow();
  });
});

it("a file goes through the session's proxy, or the gateway's where the session has none", async () => {
  const [before, beforeSocks] = [httpProxy.targets.length, socksProxy.targets.length];
  const egress = { proxy: `http://127.0.0.1:${httpProxy.port}` };
  await fetchOurs(open({}, egress), hostOf(files), "/x");
  await uploadByBaileys(open({}, egress), hostOf(files), "/x");
  expect(httpProxy.targets.slice(before)).toEqual([hostOf(files), hostOf(files)]);
  await fetchOurs(open({ proxy: `socks5://127.0.0.1:${socksProxy.port}` }, egress), hostOf(files), "/x");
  expect(httpProxy.targets).toHaveLength(before + 2);
  expect(socksProxy.targets).toHaveLength(beforeSocks + 1);
});

it("a file is cut when it is longer than what Baileys may hold in memory", async () => {
  const reading = fetchByBaileys(open(), hostOf(files), "/endless");
  await expect(reading).rejects.toThrow();
});

it("a file is not sent to a WhatsApp host name that resolves to a refused address", async () => {
  const asked: string[] = [];
  const lookup: LookupFunction = (name, _, callback) => {
    asked.push(name);
    callback(new Error("the address is not allowed"), []);
  };
  for (const move of [fetchOurs, fetchByBaileys, uploadByBaileys])
    await expect(move(open({}, { lookup }), "mmg.whatsapp.net", "/x")).rejects.toThrow();
  expect(asked).toEqual(["mmg.whatsapp.net", "mmg.whatsapp.net", "mmg.whatsapp.net"]);
});
