import { execFile } from "node:child_process";
import { access, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const INSTALL_WITHIN_MS = 600_000;

/**
 * Installs a package from npm into a folder outside of the repository, unless it is there. Returns the given file of
 * it.
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
