import { pino } from "pino";
import type { TestProject } from "vitest/node";
import { openDatabase } from "../src/platform/db.ts";
import { startEmbeddedPostgres } from "../src/platform/embedded-postgres.ts";
import { migrateDatabase } from "../src/platform/migrate.ts";
import { buildDist } from "./build-dist.ts";
import { makeScratchDir } from "./scratch-dir.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A superuser's way into the PostgreSQL of this test run; `waygate_template` is in it, migrated and empty. */
    databaseUrl: string;
  }
}

const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "200" };

/** One PostgreSQL and one build for the whole run; both are gone, or up to date, afterwards. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { path: dataDir, remove } = await makeScratchDir();
  const undo = [remove];
  const tearDown = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    await buildDist();
    const postgres = await startEmbeddedPostgres({
      dataDir,
      log: pino({ level: "silent" }),
      settings: SETTINGS,
    });
    undo.push(postgres.stop);
    await makeTemplate(postgres.url);
    project.provide("databaseUrl", postgres.url);
    return tearDown;
  } catch (error) {
    await tearDown();
    throw error;
  }
}

async function makeTemplate(url: string): Promise<void> {
  const admin = openDatabase(url, { max: 1 });
  await admin.pool.query("create database waygate_template");
  await admin.close();
  const template = openDatabase(url.replace(/\/\w+$/, "/waygate_template"), { max: 1 });
  await migrateDatabase(template.db);
  await template.close();
}
