import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { skipUnless } from "../run/skip-unless.ts";
import { ROOT } from "../source-files.ts";
import { installPackage } from "./install.ts";

const run = promisify(execFile);

const INSPECTOR_VERSION = "2.12.0";
const ANSWER_WITHIN_MS = 60_000;

/** The official MCP client, which calls the assistant tools as a host does. */
interface McpInspector {
  /** Returns the output of the inspector. Throws its error output if it fails. */
  call(method: string, ...options: string[]): Promise<unknown>;
}

/** Installs the inspector if necessary and returns its path. */
function installMcpInspector(cacheFolder: string): Promise<string> {
  return installPackage(cacheFolder, {
    name: "@modelcontextprotocol/inspector",
    version: INSPECTOR_VERSION,
    file: "clients/launcher/build/index.js",
  });
}

/** The server to inspect: a command or a URL. */
type InspectedServer =
  | { command: readonly string[]; env: Readonly<Record<string, string>> }
  | { url: string; apiKey: string };

/** `era`: the protocol version that the inspector requires. */
function openMcpInspector(program: string, server: InspectedServer, era: "legacy" | "modern"): McpInspector {
  return {
    async call(method, ...options) {
      const [before, after] = targetOf(server);
      const asked = ["--protocol-era", era, "--method", method, ...options];
      const { stdout } = await run(process.execPath, [program, "--cli", ...before, ...asked, ...after], {
        timeout: ANSWER_WITHIN_MS,
        maxBuffer: 16 * 1024 * 1024,
      });
      return JSON.parse(stdout);
    },
  };
}

/** Arguments before and after those of the request. */
function targetOf(server: InspectedServer): [string[], string[]] {
  if ("url" in server) {
    const header = `Authorization: Bearer ${server.apiKey}`;
    return [["--server-url", server.url, "--transport", "http", "--header", header], []];
  }
  const settings = Object.entries(server.env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  return [settings, ["--", ...server.command]];
}

beforeAll(buildDist);

/** Where to install real products. Enables these tests, which need the npm registry. */
const { WAYGATE_INTEGRATIONS_CACHE: CACHE } = process.env;
const ANA = "5511988887777";

const SERVERS = [
  ["a command", "legacy"],
  ["a command", "modern"],
  ["a URL", "legacy"],
  ["a URL", "modern"],
] as const;

describe(
  "the MCP inspector",
  skipUnless(CACHE !== undefined, "WAYGATE_INTEGRATIONS_CACHE, a folder, is not set"),
  () => {
    let gateway: TestGateway;
    let shop: TestInstance;
    let program: string;

    beforeAll(async () => {
      program = await installMcpInspector(CACHE ?? "");
      gateway = await startTestGateway();
      shop = await gateway.connectInstance();
    }, 900_000);
    afterAll(() => gateway?.stop());

    describe.each(SERVERS)("with %s, in the %s protocol,", (server, era) => {
      let inspector: McpInspector;
      beforeAll(() => {
        const { url } = gateway;
        const env = { WAYGATE_BASE_URL: url, WAYGATE_API_KEY: shop.api_key };
        const command = [process.execPath, join(ROOT, "dist/program/main.js"), "mcp"];
        const target = server === "a URL" ? { url: `${url}/mcp`, apiKey: shop.api_key } : { command, env };
        inspector = openMcpInspector(program, target, era);
      });

      test("finds nothing wrong with the schemas of the 21 tools", async () => {
        const { tools } = (await inspector.call("tools/list", "--strict")) as { tools: unknown[] };
        expect(tools).toHaveLength(21);
      });

      test("lists three resources, four templates and four prompts", async () => {
        expect(await inspector.call("resources/list")).toMatchObject({ resources: { length: 3 } });
        expect(await inspector.call("resources/templates/list")).toMatchObject({
          resourceTemplates: { length: 4 },
        });
        expect(await inspector.call("prompts/list")).toMatchObject({ prompts: { length: 4 } });
      });

      test("gets a prompt in Portuguese", async () => {
        const options = ["--prompt-name", "customer_support_agent", "--prompt-args", "language=pt-BR"];
        expect(await inspector.call("prompts/get", ...options)).toMatchObject({
          messages: [{ role: "user" }],
        });
      });

      test("sends a message that arrives in the sandbox", async () => {
        const message = `From the inspector by ${server} (${era})`;
        const options = ["--tool-name", "send_message", "--tool-arg", `number=${ANA}`, `text=${message}`];
        expect(await inspector.call("tools/call", ...options)).toMatchObject({
          structuredContent: { success: true },
        });
        await waitUntil(async () => {
          const { data } = await shop.client.listChatMessages({ id: shop.id, jid: ANA });
          return data.some(({ text }) => text === message);
        });
      });
    });
  },
);
