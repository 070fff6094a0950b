import { chmod } from "node:fs/promises";
import type { TestProject } from "vitest/node";
import { findMemoryFolder } from "./memory-folder.ts";
import { makeScratchDir } from "./scratch-dir.ts";
import { startTestPostgres } from "./test-postgres.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A superuser's way into the PostgreSQL of this test run; `waygate_template` is in it, migrated and empty. */
    databaseUrl: string;
  }
}

/** One folder for temporary files for the whole run, and one PostgreSQL, which unit tests do without; both are gone afterwards. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeScratch = await moveScratch();
  if (project.vitest.projects.every(({ name }) => name === "unit")) return removeScratch;
  const postgres = await startTestPostgres();
  project.provide("databaseUrl", postgres.url);
  return () => postgres.stop().then(removeScratch);
}

/** Temporary files go into memory where possible: on a disk, a new database takes ten times as long. */
async function moveScratch(): Promise<() => Promise<void>> {
  const previous = process.env.TMPDIR;
  const folder = findMemoryFolder();
  if (folder !== undefined) process.env.TMPDIR = folder;
  const scratch = await makeScratchDir("waygate-run-");
  // The user that runs PostgreSQL passes through.
  await chmod(scratch.path, 0o711);
  process.env.TMPDIR = scratch.path;
  return async () => {
    if (previous === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = previous;
    await scratch.remove();
  };
}
