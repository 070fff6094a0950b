import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../../../test/database.ts";
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../../test/servers/receiver.ts";
import {
  runBackupCommand,
  runHeldJobsCommand,
  runRestoreCommand,
} from "../../cli/operator/backup-commands.ts";
import { createClient } from "../../client/client.ts";
import type { Database } from "../../platform/db/database.ts";

const SECRET_KEY = "8fJ2mQ7vXc4RtY9wLp3ZsB6nHd1KgA5e";
const BACKUP_KEY = "Zp4Rk8Tn1Vx6Bq3Mw7Gj2Fd9Lc5Hs0Ye";
let dataDir: string;
let gateway: TestGateway;
let shop: TestInstance;
let good: Receiver;
let broken: Receiver;
let env: Record<string, string>;
let file: string;
const targets: TestDatabase[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "waygate-backup-"));
  const own = { WAYGATE_DATA_DIR: dataDir, WAYGATE_SECRET_KEY: SECRET_KEY, WAYGATE_BACKUP_KEY: BACKUP_KEY };
  gateway = await startTestGateway({ ...own, WAYGATE_RETRY_SCHEDULE: "2h" });
  env = { ...own, DATABASE_URL: gateway.database.url };
  [good, broken] = [await startReceiver(), await startReceiver()];
  broken.respond(500);
  shop = await gateway.connectInstance({ name: "Shop", webhook_url: good.url });
  await fillEverything();
  const { data } = await gateway.admin.createBackup();
  expect(data).toMatchObject({ status: "verified", reason: null, encrypted: true });
  file = join(dataDir, "backups", data.file ?? "");
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([good.close(), broken.close()]);
  for (const target of targets) await target.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Messages and deliveries, done and pending, and other customer data. */
async function fillEverything(): Promise<void> {
  const { owner } = gateway;
  for (const text of ["one", "two"])
    await shop.client.sendText({ id: shop.id, number: "5511999990011", text });
  await owner.saveQuickReply({ shortcut: "hi", content: "Hello!" });
  await owner.createLead({ phone: "5511988887777", name: "Ana", custom_fields: {} });
  await good.waitFor(({ body }) => body.event === "message.sent", 2);
  await shop.client.createWebhook({ id: shop.id, name: "Broken", url: broken.url, events: ["message.sent"] });
  await shop.client.sendText({ id: shop.id, number: "5511999990007", text: "four" });
  await broken.waitFor(({ body }) => body.event === "message.sent");
  await waitUntil(async () => (await statuses()).retrying === 1);
  // Far enough apart that the second is pending in the backup.
  await shop.client.updateInstance({
    id: shop.id,
    settings: { send_delay_min_ms: 60_000, send_delay_max_ms: 60_000 },
  });
  for (const text of ["five", "pending"]) {
    await shop.client.sendText({ id: shop.id, number: "5511999990008", text, async: true });
  }
  await good.waitFor(({ body }) => body.data?.message?.text === "five");
  // The last receipt has arrived, and only messages that the broken receiver rejects are pending.
  await waitUntil(async () => (await count(gateway.database, FIVE_READ)) === 1);
  await waitUntil(async () => (await count(gateway.database, DELIVERY_JOBS)) === 2);
}

const FIVE_READ = "message where content ->> 'text' = 'five' and status = 'read'";
const DELIVERY_JOBS = "job join lane on lane.id = job.lane where lane.kind = 'webhook'";

/** The erasure log's content: each table's last row at that time. */
async function lastRows(): Promise<Record<string, number>> {
  const tables = ["lead", "message", "contact", "conversation", "consent", "campaign", "campaign_recipient"];
  return Object.fromEntries(tables.map((table) => [table, 1_000]));
}

async function statuses(): Promise<Record<string, number>> {
  const { rows } = await sql<{ status: string; count: number }>`
    select status, count(*) from delivery group by status`.execute(gateway.database.db);
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

async function emptyDatabase(): Promise<TestDatabase> {
  const target = await createEmptyDatabase();
  targets.push(target);
  return target;
}

/** Runs a command silently. Returns its output. */
async function quietly(command: () => Promise<void>): Promise<string> {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const progress = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    await command();
    return log.mock.calls.flat().join("\n");
  } finally {
    log.mockRestore();
    progress.mockRestore();
  }
}

const restore = (path: string, target: TestDatabase, changed: Record<string, string | undefined> = {}) =>
  quietly(() => runRestoreCommand({ ...env, ...changed }, path, { databaseUrl: target.url }));

async function count(database: Database, query: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(`select count(*) from ${query}`);
  return rows[0]?.count ?? 0;
}

describe("a backup", () => {
  test("is encrypted for its owner; administrators download it unchanged, with an audit entry", async () => {
    const bytes = await readFile(file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    for (const word of ["pending", "Ana", "5511988887777", SECRET_KEY])
      expect(bytes.includes(word)).toBe(false);
    const { data: list } = await gateway.owner.listBackups({});
    expect(list[0]?.rows).toMatchObject({ lead: 1, quick_reply: 1, instance: 1 });
    const id = list[0]?.id ?? "";
    const download = (headers: Record<string, string>, which = id) =>
      fetch(`${gateway.url}/api/admin/backups/${encodeURIComponent(which)}/download`, { headers });
    expect((await download({ "x-api-key": shop.api_key })).status).toBe(401);
    const response = await download({ admintoken: ADMIN_TOKEN });
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect((await download({ admintoken: ADMIN_TOKEN }, "../../secret-key")).status).toBe(404);
    const { data: audit } = await gateway.owner.listLogs({ type: "audit", action: "backup.*" });
    expect(audit).toMatchObject([
      { action: "backup.download", target_id: id, actor: "admin" },
      { action: "backup.create", target_id: id, actor: "admin" },
    ]);
  });

  test("runs alone, and is marked as failed if its process was killed", async () => {
    const { db } = gateway.database;
    const dead = { id: "bkp_00DEAD", trigger: "request", started_at: new Date() } as const;
    await db.insertInto("backup").values(dead).execute();
    await expect(gateway.admin.createBackup()).rejects.toMatchObject({ code: "CONFLICT" });
    await gateway.advance(120_000);
    const find = () =>
      db.selectFrom("backup").selectAll().where("id", "=", "bkp_00DEAD").executeTakeFirstOrThrow();
    await waitUntil(async () => (await find()).status === "failed");
    expect(await find()).toMatchObject({ reason: "The process that made it ended.", file: null });
  });

  test("can be made by a command, which writes it to a new file", async () => {
    const output = join(dataDir, "by-hand.backup");
    await gateway.database.db
      .updateTable("credential")
      .set({ registration: Buffer.of(0) })
      .execute();
    expect(await quietly(() => runBackupCommand(env, output))).toContain(
      "every table matches what was written",
    );
    await expect(runBackupCommand(env, output)).rejects.toThrow("exists already");
    expect(await quietly(() => runBackupCommand(env, undefined))).toContain(join(dataDir, "backups"));
    expect((await readdir(join(dataDir, "backups"))).filter((name) => name.endsWith(".part"))).toEqual([]);
    const { data } = await gateway.owner.listBackups({});
    expect(data[0]).toMatchObject({ trigger: "command", status: "verified" });
  });
});

describe("a restore", () => {
  test("requires the secret key and the backup key of the gateway that made the backup", async () => {
    const target = await emptyDatabase();
    const otherKey = "Qw3Er5Ty7Ui9Op1As2Df4Gh6Jk8Lz0Xc";
    await expect(restore(file, target, { WAYGATE_BACKUP_KEY: otherKey })).rejects.toThrow(
      "another backup key",
    );
    await expect(restore(file, target, { WAYGATE_SECRET_KEY: otherKey })).rejects.toThrow(
      "secret key is not the one",
    );
    await expect(
      restore(file, target, { WAYGATE_BACKUP_KEY: undefined, WAYGATE_DATA_DIR: tmpdir() }),
    ).rejects.toThrow("Set WAYGATE_BACKUP_KEY");
    await expect(restore(join(dataDir, "none"), target)).rejects.toThrow("There is no file");
    expect(await count(target.database, "pg_tables where schemaname = 'public'")).toBe(0);
  });

  test("starts a gateway that sends nothing until an operator releases the pending work", async () => {
    const target = await emptyDatabase();
    const delivered = good.received.map(({ body }) => body.event_id);
    expect(await restore(file, target)).toContain("On hold: 1 sends, 2 deliveries");
    expect(await count(target.database, "credential where registration is not null")).toBe(0);
    await expect(restore(file, target)).rejects.toThrow("not empty");
    broken.respond(200);
    const [gotGood, gotBroken] = [good.received.length, broken.received.length];
    await gateway.restart({ DATABASE_URL: target.url });
    const client = createClient({ baseUrl: gateway.url, apiKey: shop.api_key });
    expect((await client.getInstanceStatus({ id: shop.id })).data).toMatchObject({
      status: "disconnected",
      reason: "restored",
      jid: expect.any(String),
    });
    await gateway.owner.createLead({ phone: "5511977776666" });
    await client.updateInstance({ id: shop.id, settings: { send_delay_min_ms: 0, send_delay_max_ms: 0 } });
    await client.connectInstance({ id: shop.id });
    await good.waitFor(
      ({ body }) => body.event === "instance.connected" && !delivered.includes(body.event_id),
    );
    // New messages overtake the paused ones.
    await client.sendText({ id: shop.id, number: "5511999990011", text: "new" });
    for (const receiver of [good, broken])
      await receiver.waitFor(({ body }) => body.data?.message?.text === "new");
    await gateway.restart({ DATABASE_URL: target.url });
    const held = { sends: 1, deliveries: 2, others: 0, action: null };
    const { data: monitor } = await gateway.owner.adminMonitor({});
    expect(monitor.alerts.find(({ key }) => key === "held_back")?.recommended_action).toContain("release");
    const { data: overview } = await gateway.owner.adminOverview();
    expect(overview.held_back).toEqual({ sends: 1, deliveries: 2, others: 0 });
    expect((await gateway.anonymous.health()).production_blockers.map(({ key }) => key)).toContain(
      "held_back",
    );
    expect((await gateway.admin.getHeldWork()).data).toMatchObject(held);
    const gotSince = broken.received.slice(gotBroken).map(({ body }) => body.data?.message?.text);
    expect(new Set(gotSince)).toEqual(new Set(["new"]));

    await gateway.admin.decideHeldWork({ action: "release" });
    await expect(gateway.admin.decideHeldWork({ action: "discard" })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    for (const receiver of [good, broken])
      await receiver.waitFor(({ body }) => body.data?.message?.text === "pending");
    await broken.waitFor(({ body }) => body.data?.message?.text === "four", 2);
    await waitUntil(async () => (await gateway.admin.getHeldWork()).data.sends === 0);
    const again = good.received.slice(gotGood).filter(({ body }) => delivered.includes(body.event_id));
    expect(again).toEqual([]);
  });

  test("repeats later erasures, and discards pending work if an operator requests it", async () => {
    const target = await emptyDatabase();
    const { db } = target.database;
    const erasures = join(dataDir, "erasures-elsewhere.jsonl");
    const subject = { request: 1, until: await lastRows() };
    const entry = { id: 40, account_id: 1, scope: "leads", subject, created_at: new Date() };
    await writeFile(erasures, `${JSON.stringify(entry)}\n`);
    const options = { databaseUrl: target.url, erasures };
    await quietly(() => runRestoreCommand(env, file, options));
    expect((await db.selectFrom("erasure_log").selectAll().execute())[0]).toMatchObject({
      id: 40,
      is_due: true,
    });
    await quietly(() => runHeldJobsCommand({ ...env, DATABASE_URL: target.url }, "discard"));
    await expect(runHeldJobsCommand({ ...env, DATABASE_URL: target.url }, "release")).rejects.toThrow(
      "already have the decision discard",
    );
    await sql`update job set run_at = now()`.execute(db);
    const gotBroken = broken.received.length;
    await gateway.restart({ DATABASE_URL: target.url });
    await waitUntil(async () => (await db.selectFrom("held_job").selectAll().execute()).length === 0);
    const message = await db
      .selectFrom("message")
      .selectAll()
      .where("status", "=", "failed")
      .executeTakeFirstOrThrow();
    expect(message).toMatchObject({ content: { text: "pending" }, error: { code: "UNKNOWN_OUTCOME" } });
    const { data: logs } = await gateway.owner.listLogs({ type: "audit", action: "restored.*" });
    expect(logs).toMatchObject([{ action: "restored.discard", actor: "system" }]);
    // The event about the discarded send is delivered.
    const isOpen = () =>
      db.selectFrom("delivery").select("status").where("status", "in", ["pending", "retrying"]).execute();
    await waitUntil(async () => (await isOpen()).length === 0);
    expect(broken.received.length).toBe(gotBroken);
    await waitUntil(async () => (await gateway.owner.listLeads({})).data.every(({ name }) => name !== "Ana"));
    expect(
      (await db.selectFrom("erasure_log").select("is_due").execute()).map(({ is_due }) => is_due),
    ).toEqual([false]);
  });
});
