import type { TestProject } from "vitest/node";
import { startTestPostgres } from "../test-postgres.ts";

/** The database of `test/global-setup.ts`, without its folder for temporary files. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startTestPostgres();
  project.provide("databaseUrl", postgres.url);
  return postgres.stop;
}
