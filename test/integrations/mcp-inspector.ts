import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { installPackage } from "./install-package.ts";

const run = promisify(execFile);

const INSPECTOR_VERSION = "2.12.0";
const ANSWER_WITHIN_MS = 60_000;

/** The public client of the Model Context Protocol, which talks to the assistant tools as a host does. */
export interface McpInspector {
  /** Returns what the inspector prints; throws with its complaint when it ends with an error. */
  call(method: string, ...options: string[]): Promise<unknown>;
}

/** Installs the inspector, unless it is there. Returns its program. */
export function installMcpInspector(cacheFolder: string): Promise<string> {
  return installPackage(cacheFolder, {
    name: "@modelcontextprotocol/inspector",
    version: INSPECTOR_VERSION,
    file: "clients/launcher/build/index.js",
  });
}

/** Which assistant tools the inspector calls: those of a command, or those at a URL. */
export type InspectedServer =
  | { command: readonly string[]; env: Readonly<Record<string, string>> }
  | { url: string; apiKey: string };

/** `era`: the generation of the protocol that the inspector insists on. */
export function openMcpInspector(
  program: string,
  server: InspectedServer,
  era: "legacy" | "modern",
): McpInspector {
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

/** The arguments before and after those of the request. */
function targetOf(server: InspectedServer): [string[], string[]] {
  if ("url" in server) {
    const header = `Authorization: Bearer ${server.apiKey}`;
    return [["--server-url", server.url, "--transport", "http", "--header", header], []];
  }
  const settings = Object.entries(server.env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  return [settings, ["--", ...server.command]];
}
