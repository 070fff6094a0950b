import type { TestProject } from "vitest/node";
import { buildDist } from "./build-dist.ts";
import { startTestPostgres } from "./test-postgres.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A superuser's way into the PostgreSQL of this test run; `waygate_template` is in it, migrated and empty. */
    databaseUrl: string;
  }
}

/** One PostgreSQL and one build for the whole run; the database is gone afterwards. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildDist();
  const postgres = await startTestPostgres();
  project.provide("databaseUrl", postgres.url);
  return postgres.stop;
}
