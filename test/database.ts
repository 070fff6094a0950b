import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { type Database, openDatabase } from "../src/platform/db/database.ts";
import { superuserUrl } from "../src/platform/embedded-postgres/embedded-postgres.ts";

/** Pending jobs except maintenance; empty if there are none. */
export const WORK_LEFT =
  "select l.kind, j.* from job j join lane l on l.id = j.lane where l.kind <> 'maintenance' limit 5";

export interface TestDatabase {
  url: string;
  database: Database;
  /** Closes `database`, terminates all other connections, and drops it. */
  drop(): Promise<void>;
}

/** An empty, migrated database for one test. Outside a test run, pass the server. */
export async function createTestDatabase(server = inject("databaseUrl")): Promise<TestDatabase> {
  // Half the time of the default strategy, which also writes every page to the WAL.
  return createDatabase(server, "template waygate_template strategy file_copy");
}

/** A database without tables. */
export async function createEmptyDatabase(server = inject("databaseUrl")): Promise<TestDatabase> {
  return createDatabase(server, "template template0");
}

async function createDatabase(server: string, from: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  await runAsAdmin(server, `create database ${name} ${from}`);
  const url = server.replace(/\/\w+$/, `/${name}`);
  const database = openDatabase(url);
  // A machine that stands still for seconds is no absent database.
  database.pool.options.connectionTimeoutMillis = 60_000;
  const drop = async (): Promise<void> => {
    if (!database.pool.ending) await database.close();
    // Only a superuser may end an autovacuum in it.
    await runAsAdmin(superuserUrl(server), `drop database if exists ${name} with (force)`);
  };
  return { url, database, drop };
}

async function runAsAdmin(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
