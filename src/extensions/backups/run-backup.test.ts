import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { createLog } from "../../platform/log/log.ts";
import { type RecurringBackupDeps, recurringBackupJobs } from "./backup-lane.ts";
import { addBackup } from "./request-backup.ts";
import { type BackupDeps, failInterruptedBackups, runBackup } from "./run-backup.ts";

const DAY_MS = 86_400_000;
const BY = { caller: { kind: "system" } } as const;

let store: TestDatabase;
let directory: string;
let deps: BackupDeps;
let now: Date;
let progress: Set<string>;

beforeAll(async () => {
  store = await createTestDatabase();
  directory = await mkdtemp(join(tmpdir(), "waygate-run-backup-"));
});
afterAll(async () => {
  await store.drop();
  await rm(directory, { recursive: true, force: true });
});

beforeEach(async () => {
  now = new Date("2026-11-20T12:00:00Z");
  progress = new Set();
  deps = {
    db: store.database.db,
    url: store.url,
    node: "node-1",
    directory,
    version: "1",
    settings: {},
    backupKey: "Zp4Rk8Tn1Vx6Bq3Mw7Gj2Fd9Lc5Hs0Ye",
    log: createLog("silent"),
    clock: { now: () => now, monotonicMs: () => 0 },
    onProgress: (_rows, words) => progress.add(words),
  };
  await store.database.pool.query("truncate backup");
});

/** A backup of that time with its file. */
async function addOld(created_at: Date, node = "node-1"): Promise<void> {
  const name = created_at.toISOString().slice(0, 10);
  const file = `${node}-${name}.backup`;
  const row = { id: file, trigger: "schedule", status: "verified", node, file, created_at } as const;
  await deps.db.insertInto("backup").values(row).execute();
  if (node === "node-1") await writeFile(join(directory, file), "");
}

test("a backup is followed by the deletion of expired files, but not of other nodes' files", async () => {
  for (let age = 1; age <= 20; age++) await addOld(new Date(now.getTime() - age * DAY_MS));
  await addOld(new Date(now.getTime() - 300 * DAY_MS), "node-2");
  const id = await addBackup(deps.db, BY, "schedule");
  await deps.db.updateTable("backup").set({ created_at: now }).where("id", "=", id).execute();
  await runBackup(deps, id, new AbortController().signal);

  const rows = await deps.db.selectFrom("backup").selectAll().orderBy("created_at").execute();
  expect(rows.at(-1)).toMatchObject({ id, status: "verified", reason: null });
  expect(rows.map(({ created_at }) => created_at.toISOString().slice(0, 10))).toEqual([
    "2026-01-24",
    "2026-10-31",
    "2026-11-01",
    "2026-11-08",
    "2026-11-14",
    "2026-11-15",
    "2026-11-16",
    "2026-11-17",
    "2026-11-18",
    "2026-11-19",
    "2026-11-20",
  ]);
  const files = (await readdir(directory)).filter((name) => name.endsWith(".backup"));
  expect(files.toSorted()).toEqual(
    rows.flatMap(({ file, node }) => (node === "node-1" ? (file ?? []) : [])).toSorted(),
  );
  expect([...progress]).toEqual(["rows written", "rows restored", "rows compared"]);
});

test("a backup runs once a day after the quiet hour, and again an hour after a failure", async () => {
  await store.database.pool.query(
    "insert into account (name, account_type, plan_id, created_at) values ('a', 'owner', 1, $1)",
    [new Date("2026-11-01T00:00:00Z")],
  );
  const schedule: RecurringBackupDeps = {
    ...deps,
    engine: { wake: () => {} },
    quietHourMs: 3.5 * 3_600_000,
    sendHoldMs: 1,
    failSend: async () => {},
    repeatErasure: async () => {},
  };
  const ofTheDay = recurringBackupJobs(schedule).find(({ name }) => name === "backup-of-the-day");
  const madeAt = async (time: string, status: "verified" | "failed" = "verified") => {
    now = new Date(time);
    await ofTheDay?.run();
    const { rows } = await store.database.pool.query(
      "update backup set status = $1, created_at = $2 where status = 'running' returning trigger",
      [status, now],
    );
    return rows.map(({ trigger }) => trigger);
  };
  expect(await madeAt("2026-11-20T03:31:00Z")).toEqual(["schedule"]);
  expect(await madeAt("2026-11-20T03:32:00Z")).toEqual([]);
  expect(await madeAt("2026-11-21T03:29:00Z")).toEqual([]);
  expect(await madeAt("2026-11-21T03:30:00Z", "failed")).toEqual(["schedule"]);
  expect(await madeAt("2026-11-21T04:29:00Z")).toEqual([]);
  expect(await madeAt("2026-11-21T04:31:00Z")).toEqual(["schedule"]);
  expect(await madeAt("2026-11-21T23:00:00Z")).toEqual([]);
});

test("a backup without access to its directory fails with a reason, and has no file", async () => {
  const blocked = join(directory, "no-directory");
  await writeFile(blocked, "");
  const id = await addBackup(deps.db, BY, "request");
  await runBackup({ ...deps, directory: blocked }, id, new AbortController().signal);
  const row = await deps.db.selectFrom("backup").selectAll().executeTakeFirstOrThrow();
  expect(row).toMatchObject({
    status: "failed",
    reason: expect.stringMatching(/EEXIST|ENOTDIR/),
    file: null,
  });
  await rm(blocked);
});

test("a backup run deletes only the leftovers of a killed process", async () => {
  const dead = { id: "bkp_01M7WFAA8C6E4BYT4HV8DEAD01", trigger: "request", started_at: now } as const;
  await deps.db.insertInto("backup").values(dead).execute();
  const kept = [
    "waygate-2026-11-19T03-30-00Z-KEEP01.backup",
    "copied-by-hand-DEAD01.backup",
    "erasures.jsonl",
  ];
  const left = [
    "waygate-2026-11-20T03-30-00Z-DEAD01.backup",
    "waygate-2026-11-20T03-30-00Z-DEAD01.backup.part",
  ];
  const before = await readdir(directory);
  for (const name of [...kept, ...left]) await writeFile(join(directory, name), "");
  await failInterruptedBackups(deps);
  expect((await readdir(directory)).toSorted()).toEqual([...before, ...kept].toSorted());
  const row = await deps.db.selectFrom("backup").selectAll().executeTakeFirstOrThrow();
  expect(row).toMatchObject({ status: "failed", reason: "The process that made it ended." });
});
