import { execFile } from "node:child_process";
import { access, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export const INSPECTOR_VERSION = "2.12.0";
const PACKAGE = "@modelcontextprotocol/inspector";
const INSTALL_WITHIN_MS = 600_000;
const ANSWER_WITHIN_MS = 60_000;

/** The public client of the Model Context Protocol, which talks to the assistant tools as a host does. */
export interface McpInspector {
  /** Returns what the inspector prints; throws with its complaint when it ends with an error. */
  call(method: string, ...options: string[]): Promise<unknown>;
}

/** Installs the inspector into a folder outside of the repository, unless it is there. Returns its program. */
export async function installMcpInspector(cacheFolder: string): Promise<string> {
  const folder = join(cacheFolder, `mcp-inspector-${INSPECTOR_VERSION}`);
  const program = join(folder, "node_modules", PACKAGE, "clients/launcher/build/index.js");
  const isThere = await access(program).then(
    () => true,
    () => false,
  );
  if (isThere) return program;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{"private":true}\n');
  const args = ["install", "--save-exact", "--ignore-scripts", "--no-audit", "--no-fund"];
  await run("npm", [...args, `${PACKAGE}@${INSPECTOR_VERSION}`], { cwd: folder, timeout: INSTALL_WITHIN_MS });
  return program;
}

/** `server`: the command that serves the assistant tools; `env`: which gateway, and with which key. */
export function openMcpInspector(
  program: string,
  server: readonly string[],
  env: Readonly<Record<string, string>>,
): McpInspector {
  const input = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  return {
    async call(method, ...options) {
      const args = [program, "--cli", ...input, "--method", method, ...options, "--", ...server];
      const { stdout } = await run(process.execPath, args, {
        timeout: ANSWER_WITHIN_MS,
        maxBuffer: 16 * 1024 * 1024,
      });
      return JSON.parse(stdout);
    },
  };
}
