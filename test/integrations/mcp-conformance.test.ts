import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../gateway.ts";
import { skipUnless } from "../run/skip-unless.ts";
import { installPackage } from "./install.ts";

const run = promisify(execFile);

/** Where to install real products. Enables these tests, which need the npm registry. */
const { WAYGATE_INTEGRATIONS_CACHE: CACHE } = process.env;

const CONFORMANCE = { name: "@modelcontextprotocol/conformance", version: "0.1.16", file: "dist/index.js" };

const OLDEST_NODE = 22;

/** The other scenarios need sessions, or the suite's own example server. */
const SCENARIOS = [
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "prompts-list",
  "dns-rebinding-protection",
];

/** A proxy that adds the API key, which the suite cannot send. */
async function startKeyProxy(targetOf: () => string, keyOf: () => string): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { connection: _, "content-length": __, host: ___, ...headers } = request.headers;
    const body = await buffer(request);
    const result = await fetch(`${targetOf()}${request.url}`, {
      method: request.method ?? "GET",
      headers: { ...(headers as Record<string, string>), authorization: `Bearer ${keyOf()}` },
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    const type = result.headers.get("content-type") ?? "";
    response.writeHead(result.status, { "content-type": type }).end(await result.text());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

const runsHere = CACHE
  ? skipUnless(
      Number.parseInt(process.versions.node, 10) >= OLDEST_NODE,
      `the suite does not run on Node ${process.version}`,
    )
  : skipUnless(false, "WAYGATE_INTEGRATIONS_CACHE, a folder, is not set");

describe("the conformance suite of MCP", runsHere, () => {
  let gateway: TestGateway;
  let proxy: Server;
  let program: string;
  let url: string;
  let folder: string;

  beforeAll(async () => {
    program = await installPackage(CACHE ?? "", CONFORMANCE);
    folder = await mkdtemp(join(tmpdir(), "waygate-conformance-"));
    let key = "";
    proxy = await startKeyProxy(
      () => gateway.url,
      () => key,
    );
    url = `http://localhost:${(proxy.address() as AddressInfo).port}`;
    gateway = await startTestGateway({ WAYGATE_BASE_URL: url });
    key = (await gateway.connectInstance()).api_key;
  }, 900_000);
  afterAll(async () => {
    proxy?.close();
    await gateway?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test.each(SCENARIOS)("passes the scenario %s", async (scenario) => {
    const args = ["server", "--url", `${url}/mcp`, "--scenario", scenario];
    // Fails unless every check has passed.
    const { stdout } = await run(process.execPath, [program, ...args], { cwd: folder, timeout: 60_000 });
    expect(stdout).toMatch(/Passed: [1-9]/);
  });
});
