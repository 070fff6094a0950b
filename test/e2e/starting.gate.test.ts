import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEmptyDatabase } from "../database.ts";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { makeScratchDir, type ScratchDir } from "../run/scratch-dir.ts";
import { createE2eStory, type E2eStory } from "./e2e-story.ts";

beforeAll(buildDist);

const MIGRATION_TABLE = "create table kysely_migration (name text primary key, timestamp text not null)";

describe("a gateway that cannot start", () => {
  let story: E2eStory;
  let other: ScratchDir;

  beforeAll(async () => {
    story = await createE2eStory();
    other = await makeScratchDir("waygate-e2e-");
    await story.start();
  });
  afterAll(async () => {
    await story.end();
    await other.remove();
  });

  /** Output of a refused start: one sentence without a stack. */
  async function refusal(settings: Record<string, string>): Promise<string> {
    const gateway = story.launch({ WAYGATE_DATA_DIR: other.path, ...settings });
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    expect(gateway.output()).not.toMatch(/^\s+at /m);
    return gateway.output().trim();
  }

  test("reports that another gateway uses the data directory", async () => {
    const { WAYGATE_DATA_DIR = "" } = story.settings;
    const output = await refusal({ WAYGATE_DATA_DIR });
    expect(output).toMatch(
      /^The data directory \S+ is in use by process \d+ on \S+\. .*WAYGATE_DATA_DIR[^\n]*$/,
    );
  });

  test("reports that the secret key is weak, without showing it", async () => {
    const WAYGATE_SECRET_KEY = "a".repeat(40);
    const output = await refusal({ WAYGATE_SECRET_KEY });
    expect(output).toContain("WAYGATE_SECRET_KEY");
    expect(output.split("\n")).toHaveLength(2);
    expect(output).not.toContain(WAYGATE_SECRET_KEY);
  });

  test("reports that the secret key is not the one of the data", async () => {
    const output = await refusal({ WAYGATE_SECRET_KEY: "Zm9yZ290dGVuIGtleSBvZiBhbm90aGVyIG5vZGU0MQ" });
    expect(output).toMatch(
      /^WAYGATE_SECRET_KEY is not the one that the secrets in this database are encrypted with[^\n]*$/,
    );
  });

  test("reports that a version before 2.0.0 made the database, and what to do", async () => {
    const old = await createEmptyDatabase();
    await old.database.pool.query(
      `${MIGRATION_TABLE}; insert into kysely_migration values ('0001-engine', 'x')`,
    );
    const output = await refusal({ DATABASE_URL: old.url });
    await old.drop();
    expect(output).toMatch(
      /^A version before 2\.0\.0 made this database[^\n]*POST \/api\/data\/export[^\n]*$/,
    );
  });

  test("reports that the port is in use", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const output = await refusal({ WAYGATE_PORT: String(port) });
    server.close();
    expect(output).toMatch(new RegExp(`^Port ${port} on 127.0.0.1 is in use [^\\n]*WAYGATE_PORT[^\\n]*$`));
  });

  test.each([
    ["is not there", (url: URL) => Object.assign(url, { port: "9" }), /cannot be reached \(ECONNREFUSED\)/],
    [
      "does not exist",
      (url: URL) => Object.assign(url, { pathname: "/nobody" }),
      /refused the connection: .*nobody.*\(3D000\)/,
    ],
  ])("reports that the database %s", async (_, change, sentence) => {
    const output = await refusal({ DATABASE_URL: change(new URL(story.store.url)).href });
    expect(output).toMatch(/^PostgreSQL at [^\n]*$/);
    expect(output).toMatch(sentence);
  });

  test("lists all errors in its settings at once, without a value", async () => {
    const output = await refusal({ WAYGATE_PORT: "seven", WAYGATE_QUEUE: "redis", WAYGATE_TYPO: "yes" });
    expect(output).toMatch(/WAYGATE_PORT.*\n.*WAYGATE_QUEUE.*\n.*WAYGATE_TYPO is not a setting/);
    expect(output).not.toMatch(/seven|redis/);
  });

  test("does not disturb the running gateway", async () => {
    expect((await fetch(`${story.gateway.url}/health`)).status).toBe(200);
    expect(story.gateway.output()).not.toMatch(/"level":"(error|fatal)"/);
  });
});

test("a gateway that is killed while it creates its tables creates them at the next start", async () => {
  const [story, empty] = [await createE2eStory(), await createEmptyDatabase()];
  const { pool } = empty.database;
  await pool.query(MIGRATION_TABLE);
  // The lock lets the migration run but not commit.
  const holder = await pool.connect();
  await holder.query("begin; lock table kysely_migration in exclusive mode");
  const waiting = "select pid from pg_locks where relation = 'kysely_migration'::regclass and not granted";
  const gateway = story.launch({ DATABASE_URL: empty.url });
  await waitUntil(async () => (await pool.query(waiting)).rows.length > 0);
  await gateway.kill();
  // PostgreSQL does not notice a lost client while a statement waits.
  await pool.query(`select pg_terminate_backend(pid) from (${waiting}) held`);
  holder.release(true);
  await story.start({ DATABASE_URL: empty.url });
  expect((await fetch(`${story.gateway.url}/health/ready`)).status).toBe(200);
  await story.end();
  await empty.drop();
});
