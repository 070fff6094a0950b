import { accessSync, constants, statfsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import type { TestProject } from "vitest/node";
import { findMissingPrograms } from "./programs.ts";
import { makeScratchDir } from "./scratch-dir.ts";
import { startTestPostgres } from "./test-postgres.ts";

const SHARED_MEMORY = "/dev/shm";
const TMPFS = 0x01021994;
const NEEDED_BYTES = 6 * 1024 ** 3;

/** A folder in memory with room for the files of a test run, if there is one. */
export function findMemoryFolder(): string | undefined {
  try {
    const { type, bavail, bsize } = statfsSync(SHARED_MEMORY);
    accessSync(SHARED_MEMORY, constants.W_OK);
    const free = Math.min(bavail * bsize, process.availableMemory());
    return type === TMPFS && free >= NEEDED_BYTES ? SHARED_MEMORY : undefined;
  } catch {
    return undefined;
  }
}

declare module "vitest" {
  export interface ProvidedContext {
    /** URL of this run's PostgreSQL for the gateway's role. It contains `waygate_template`, migrated and empty. */
    databaseUrl: string;
  }
}

/**
 * Creates one scratch folder for the run and one PostgreSQL, which unit tests do not need. Both are removed
 * afterwards. With `CI` set, a missing program that these projects need ends the run.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const projects = project.vitest.projects.map(({ name }) => name);
  const reportMissing = checkPrograms(projects);
  const removeScratch = await moveScratch();
  if (projects.every((name) => name === "unit")) return removeScratch;
  const postgres = await startTestPostgres();
  project.provide("databaseUrl", postgres.url);
  return () => postgres.stop().then(removeScratch).then(reportMissing);
}

/** Returns a function that reports after the tests which were skipped. */
function checkPrograms(projects: string[]): () => void {
  const missing = findMissingPrograms(projects).map(({ name, subject }) => `${name} (${subject})`);
  if (missing.length === 0) return () => {};
  const list = missing.join(", ");
  if (process.env.CI) throw new Error(`These tests need programs that are missing: ${list}.`);
  return () => {
    process.stdout.write(`Not tested, since these programs are missing: ${list}. See CONTRIBUTING.md.\n`);
  };
}

/** Puts temporary files into memory if possible: on disk a new database takes ten times as long. */
async function moveScratch(): Promise<() => Promise<void>> {
  const previous = process.env.TMPDIR;
  const folder = findMemoryFolder();
  if (folder !== undefined) process.env.TMPDIR = folder;
  const scratch = await makeScratchDir("waygate-run-");
  // PostgreSQL runs as another user, who must be able to enter it.
  await chmod(scratch.path, 0o711);
  process.env.TMPDIR = scratch.path;
  return async () => {
    if (previous === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = previous;
    await scratch.remove();
  };
}
