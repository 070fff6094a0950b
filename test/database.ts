import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { type Database, openDatabase } from "../src/platform/db.ts";

export interface TestDatabase {
  url: string;
  database: Database;
  /** Closes `database`, ends whoever else is connected, and drops it. */
  drop(): Promise<void>;
}

/** A database of this test's own with every table, empty. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase("template waygate_template");
}

/** A database without a single table. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase("template template0");
}

async function createDatabase(from: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  await runAsAdmin(`create database ${name} ${from}`);
  const url = inject("databaseUrl").replace(/\/\w+$/, `/${name}`);
  const database = openDatabase(url);
  const drop = async (): Promise<void> => {
    if (!database.pool.ending) await database.close();
    await runAsAdmin(`drop database if exists ${name} with (force)`);
  };
  return { url, database, drop };
}

async function runAsAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject("databaseUrl") });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
