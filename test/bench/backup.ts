import { stat } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { restoreBackup } from "../../src/features/backups/restore-backup.ts";
import { verifyBackup } from "../../src/features/backups/verify-backup.ts";
import { writeBackup } from "../../src/features/backups/write-backup.ts";
import { connectInstance } from "./bench-gateway.ts";
import { type BenchStage, withBenchStage } from "./bench-stage.ts";
import { seedLog } from "./seed-log.ts";

const MESSAGES = Number(process.argv.find((word) => /^\d+$/.test(word)) ?? 200_000);
const KEY = "Zp4Rk8Tn1Vx6Bq3Mw7Gj2Fd9Lc5Hs0Ye";
const MIB = 1024 * 1024;

/** How long a backup, its verification and a restore take, and how much memory. */
export function benchBackup(): Promise<void> {
  return withBenchStage(run);
}

async function run({ gateway, database, databaseUrl }: BenchStage): Promise<void> {
  const instance = await connectInstance(gateway);
  await seedLog(database, { instance: instance.id, messages: MESSAGES, chats: 5_000 });
  await gateway.stop();
  await database.pool.query("create database bench_restored template template0");
  await measure(databaseUrl, join(gateway.dataDir, "bench.backup"));
}

async function measure(url: string, path: string): Promise<void> {
  const size = await databaseSize(url);
  const { signal } = new AbortController();
  const order = { id: "bkp_bench", url, path, backupKey: KEY, app_version: "bench", settings: {}, signal };
  const written = await timed("backup", size, () => writeBackup(order));
  const rows = Object.values(written.tally).reduce((all, table) => all + table.rows, 0);
  console.log(
    `${MESSAGES} messages, ${rows} rows, ${mib(size)} of database, file of ${mib((await stat(path)).size)}`,
  );
  const file = { path, backupKey: KEY };
  const verdict = await timed("verification", size, () => verifyBackup(url, file, written));
  console.log(`verdict: ${verdict.result}`);
  const empty = new URL(url);
  empty.pathname = "/bench_restored";
  await timed("restore", size, () => restoreBackup(empty.href, file, []));
}

async function databaseSize(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ size: string }>(
    "select pg_database_size(current_database()) as size",
  );
  await client.end();
  return Number(rows[0]?.size);
}

async function timed<Result>(name: string, bytes: number, work: () => Promise<Result>): Promise<Result> {
  let peak = process.memoryUsage().rss;
  const before = peak;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 50);
  const began = performance.now();
  const result = await work();
  const seconds = (performance.now() - began) / 1000;
  clearInterval(watch);
  const perSecond = `${Math.round(MESSAGES / seconds)} messages/s, ${mib(bytes / seconds)}/s of database`;
  console.log(
    `${name}: ${seconds.toFixed(1)} s, ${perSecond}, memory ${mib(before)} -> at most ${mib(peak)}`,
  );
  return result;
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
