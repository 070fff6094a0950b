import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../../../../test/gateway.ts";
import { startTestPostgres, type TestPostgres } from "../../../../test/run/test-postgres.ts";
import { superuserUrl } from "../../../platform/embedded-postgres/embedded-postgres.ts";
import { dropLeftOvers } from "./verify-backup.ts";

let server: TestPostgres;
let admin: pg.Client;
let superuser: pg.Client;

beforeAll(async () => {
  server = await startTestPostgres({ autovacuum_naptime: "1s" });
  admin = new pg.Client({ connectionString: server.url });
  superuser = new pg.Client({ connectionString: superuserUrl(server.url) });
  await Promise.all([admin.connect(), superuser.connect()]);
});
afterAll(async () => {
  await Promise.all([admin?.end(), superuser?.end()]);
  await server?.stop();
});

test("the scratch database of a backup is dropped while autovacuum and a statement of a killed process work in it", async () => {
  await admin.query("create database scratch_1 template template0");
  const left = new pg.Client({ connectionString: server.url.replace(/\/\w+$/, "/scratch_1") });
  left.on("error", () => {});
  await left.connect();
  const slow = "autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1";
  await left.query(`create table filled (text text) with (${slow}, autovacuum_vacuum_threshold = 0)`);
  await left.query("insert into filled select repeat('x', 500) from generate_series(1, 50000)");
  await left.query("delete from filled where ctid < '(1000, 0)'");
  const atWork =
    "select from pg_stat_activity where datname = 'scratch_1' and query like 'autovacuum: VACUUM %filled%'";
  await waitUntil(async () => (await superuser.query(atWork)).rowCount === 1, 60_000);
  const ended = left.query("select pg_sleep(600)").catch(({ message }) => message);
  await dropLeftOvers(admin, "scratch_");
  expect(await ended).toMatch(/terminat/);
  const { rowCount } = await admin.query("select from pg_database where datname = 'scratch_1'");
  expect(rowCount).toBe(0);
});
