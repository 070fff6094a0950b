import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../../../migrations/all.ts";
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { knownMigrations } from "../../platform/db/find-pending-migrations.ts";
import { ensurePartitions } from "../../platform/db/partitions.ts";
import { digestTables, readInventory } from "./file/dump-tables.ts";
import { checkBackup, loadBackup } from "./file/load-backup.ts";
import { verifyBackup } from "./file/verify-backup.ts";
import { type WrittenBackup, withConnection, writeBackup } from "./file/write-backup.ts";
import { restoreBackup } from "./restore-backup.ts";

const KEY = "Zp4Rk8Tn1Vx6Bq3Mw7Gj2Fd9Lc5Hs0Ye";
/** Every character that a text can contain, including the special ones of COPY. */
const TEXTS = ["a\tb\nc\r\\d", "\\.", "\\N", "ünï©ødé 👍🏽", "", "{\"not\": 'json\u0001'}"];

let directory: string;
let source: TestDatabase;
let path: string;
let written: WrittenBackup;
const made: TestDatabase[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "waygate-restore-"));
  source = await createTestDatabase();
  await ensurePartitions(source.database.db);
  await fill(source.database.pool);
  path = join(directory, "whole.backup");
  written = await write(source.url, path);
});

afterAll(async () => {
  for (const database of [source, ...made]) await database.drop();
  await rm(directory, { recursive: true, force: true });
});

async function write(url: string, to: string): Promise<WrittenBackup> {
  const { signal } = new AbortController();
  return writeBackup({ id: "bkp_1", url, path: to, backupKey: KEY, app_version: "1", settings: {}, signal });
}

/** Every column type at its limits, rows in a partition, a foreign key to a later row, generated columns. */
async function fill(pool: pg.Pool): Promise<void> {
  await pool.query(
    "insert into account (name, account_type, plan_id, parent_id) values ('late', 'client', 2, null), ('own', 'client', 2, 1)",
  );
  await pool.query("update account set parent_id = 2, settings = $1 where id = 1", [
    JSON.stringify({ big: 1.5e300, small: 0.1, text: TEXTS, nothing: null }),
  ]);
  await pool.query("update plan set price = 1234567890.12");
  // More than a socket reads at once.
  await pool.query(
    `insert into contact (account_id, instance_id, jid, push_name)
     select 1, 1, n || '@s.whatsapp.net', repeat('x', n % 300) from generate_series(1, 10000) n`,
  );
  for (const text of TEXTS) {
    await pool.query(
      "insert into consent (account_id, phone, purpose, consent_type, granted, text_version) values (1, '1', 'x', 'y', true, $1)",
      [text],
    );
  }
  await pool.query(
    `insert into event (event_id, event, account_id, instance_id, sequence, chat, tags, body, created_at)
     select 'evt_' || n, 'message.sent', 1, 1, 9007199254740993 + n, $1, $2, decode('00ff0a0d095c', 'hex'),
       now() + n * interval '1.000001 days' from generate_series(0, 3) n`,
    [TEXTS[0], TEXTS],
  );
  await pool.query(`insert into blob (name, sha256, size, status) values ('b', '', 500, 'stored')`);
  await pool.query(
    `insert into media (id, account_id, instance_id, message, status, blob, size, mime_type)
     select 'm' || n, 1, 1, n, 'ready', b.id, 500, 'image/png' from blob b, generate_series(1, 2) n`,
  );
  await pool.query("insert into outgoing_media (id, account_id, part, bytes) values ('u', 1, 0, '1234567')");
  await pool.query(
    "insert into sandbox.media (id, account_id, bytes, expires_at) values ('m', 1, $1, 'infinity')",
    [
      // Incompressible, so that the file has several chunks.
      randomBytes(1_000_000),
    ],
  );
}

async function empty(): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  made.push(database);
  return database;
}

async function isUntouched({ database }: TestDatabase): Promise<boolean> {
  const { rows } = await database.pool.query(
    "select from pg_class c join pg_namespace n on n.oid = relnamespace where nspname in ('public', 'sandbox')",
  );
  return rows.length === 0;
}

describe("a backup file", () => {
  test("restores every row with every type; numbers and the storage usage continue from there", async () => {
    const target = await empty();
    await restoreBackup(target.url, { path, backupKey: KEY }, []);
    const resolved = ["restore_record", "audit", "audit_pending"];
    const { restored, inventory } = await withConnection(target.url, "test", async (client) => {
      await client.query("set extra_float_digits = 1; set timezone = 'UTC'");
      const inventory = await readInventory(client);
      return { inventory, restored: await digestTables(client, inventory.tables) };
    });
    const untouched = Object.entries(written.tally).filter(([table]) => !resolved.includes(table));
    for (const [table, counts] of untouched) expect([table, restored[table]]).toEqual([table, counts]);
    expect(written.tally).toMatchObject({
      account: { rows: 2 },
      event: { rows: 4 },
      "sandbox.media": { rows: 1 },
    });
    expect(inventory.migrations).toEqual(knownMigrations());
    const { rows } = await target.database.pool.query(
      "insert into lead (account_id) values (1) returning id",
    );
    expect(rows[0].id).toBeGreaterThan(1_000_000);
    const { rows: trail } = await target.database.pool.query("select action from audit");
    expect(trail).toEqual([{ action: "backup.restore" }]);
    await expect(target.database.pool.query("delete from audit")).rejects.toThrow("append-only");
    const { pool } = target.database;
    const stored = async () => Number((await pool.query("select storage_of(1) as bytes")).rows[0].bytes);
    const usages = [await stored()];
    for (const id of ["m1", "m2"]) {
      await pool.query("update media set blob = null where id = $1", [id]);
      usages.push(await stored());
    }
    // Two files share one blob.
    expect(usages).toEqual([1_000_507, 1_000_507, 1_000_007]);
  });

  test("of an older schema is migrated to the current one", async () => {
    const target = await empty();
    migrations["0002-later"] = {
      up: (db) =>
        sql`alter table account add column later text not null default 'yes'`.execute(db).then(() => {}),
    };
    try {
      await restoreBackup(target.url, { path, backupKey: KEY }, []);
    } finally {
      delete migrations["0002-later"];
    }
    const { rows } = await target.database.pool.query("select distinct later from account");
    expect(rows).toEqual([{ later: "yes" }]);
    const applied = await target.database.pool.query("select name from kysely_migration order by name");
    expect(applied.rows.at(-1)).toEqual({ name: "0002-later" });
  });

  test("fails verification if the restored data differs from what was written", async () => {
    const tally = { ...written.tally, consent: { rows: TEXTS.length, digest: "0".repeat(64) } };
    const verdict = await verifyBackup(source.url, { path, backupKey: KEY }, { ...written, tally });
    expect(verdict).toEqual({
      result: "bad",
      reason: "Restored, these tables are not as they were written: consent.",
    });
    const { rows } = await source.database.pool.query(
      `select from pg_database where starts_with(datname, 'waygate_scratch_' ||
         (select oid from pg_database where datname = current_database()) || '_')`,
    );
    expect(rows).toEqual([]);
  });

  test("is not verified if the role cannot create databases, and the reason is reported", async () => {
    await source.database.pool.query(
      "drop role if exists nobody_much; create role nobody_much login password 'x'",
    );
    const url = new URL(source.url);
    [url.username, url.password] = ["nobody_much", "x"];
    const verdict = await verifyBackup(url.href, { path, backupKey: KEY }, written);
    expect(verdict).toEqual({
      result: "unable",
      reason: expect.stringContaining("may not create databases"),
    });
    await source.database.pool.query("drop role nobody_much");
  });
});

describe("a restore from a file", () => {
  const flip = (bytes: Buffer, at: number) => bytes.fill((bytes[at] ?? 0) ^ 1, at, at + 1);

  test.each<[string, (bytes: Buffer) => Buffer, RegExp]>([
    ["cut off in its head", (bytes) => bytes.subarray(0, 40), /incomplete/],
    ["cut off in the middle", (bytes) => bytes.subarray(0, bytes.length >> 1), /altered or is incomplete/],
    // After a chunk, where only the next authentication tag is missing.
    ["cut off between two pieces", (bytes) => bytes.subarray(0, 53 + 262_160), /altered or is incomplete/],
    ["altered in one bit", (bytes) => flip(bytes, bytes.length - 300), /altered or is incomplete/],
    ["altered in its salt", (bytes) => flip(bytes, 30), /altered or is incomplete/],
    ["something else", () => Buffer.from("PK\u0003\u0004 a file of another kind"), /not a Waygate backup/],
    ["empty", () => Buffer.alloc(0), /not a Waygate backup/],
  ])("refuses a file that is %s before it begins, in one line", async (_what, spoil, words) => {
    const spoilt = join(directory, "spoilt.backup");
    await writeFile(spoilt, spoil(await readFile(path)));
    const refusal = await checkBackup({ path: spoilt, backupKey: KEY }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: "BackupFileError", message: expect.stringMatching(words) });
    expect(String(refusal)).not.toContain("\n");
  });

  test("changes nothing if the file turns out to be altered", async () => {
    const target = await empty();
    const spoilt = join(directory, "altered.backup");
    const bytes = await readFile(path);
    await writeFile(spoilt, flip(bytes, bytes.length - 300));
    await expect(restoreBackup(target.url, { path: spoilt, backupKey: KEY }, [])).rejects.toThrow("altered");
    expect(await isUntouched(target)).toBe(true);
  });

  test("rejects another key, a newer schema and a database that is not empty", async () => {
    const target = await empty();
    const wrongKey = { path, backupKey: "another backup key that is long enough" };
    await expect(restoreBackup(target.url, wrongKey, [])).rejects.toThrow(
      /another backup key \([0-9a-f]{8}\)/,
    );
    const newer = await createTestDatabase();
    made.push(newer);
    await newer.database.pool.query(
      "insert into kysely_migration (name, timestamp) values ('9999-future', 'x')",
    );
    const future = { path: join(directory, "newer.backup"), backupKey: KEY };
    await write(newer.url, future.path);
    await expect(checkBackup(future)).rejects.toThrow(
      /newer version of Waygate made this backup \(1, schema 9999-future\)/,
    );
    await expect(restoreBackup(target.url, future, [])).rejects.toThrow(/newer version/);
    expect(await isUntouched(target)).toBe(true);
    await target.database.pool.query("create table mine (id int)");
    await expect(restoreBackup(target.url, { path, backupKey: KEY }, [])).rejects.toThrow(
      "The database is not empty.",
    );
    expect((await target.database.pool.query("select from mine")).rows).toEqual([]);
  });

  test("leaves the database empty if it fails in the middle", async () => {
    const target = await empty();
    const failing = withConnection(target.url, "test", (client) =>
      loadBackup(client, { path, backupKey: KEY }, () => Promise.reject(new Error("power cut"))),
    );
    await expect(failing).rejects.toThrow("power cut");
    expect(await isUntouched(target)).toBe(true);
  });
});
