import { createEngine, type Job, type JobResult } from "../../src/engine/engine.ts";
import { addJobs, type NewJob } from "../../src/engine/job-store.ts";
import { addLane } from "../../src/engine/lane-store.ts";
import { type Database, openDatabase } from "../../src/platform/db/database.ts";
import { migrateDatabase } from "../../src/platform/db/migrate-database.ts";
import { createLog } from "../../src/platform/log/log.ts";
import { startBenchDatabase } from "./bench-database.ts";

const LANES = 1_000;
const BATCH = 500;
/** Jobs in the table at the same time, about. */
const STANDING = 20_000;
const REPORTS = 10;
/** One job of so many, in every lane, is tried a second time, which changes its row. */
const RETRY_ONE_OF = 19;

/** Whether the table of jobs keeps its size while very many jobs go through it; a number says how many. */
export async function benchChurn(): Promise<void> {
  const total = Number(process.argv.find((word) => /^\d+$/.test(word)) ?? 1_000_000);
  const log = createLog("silent");
  const postgres = await startBenchDatabase();
  const database = openDatabase(postgres.url, { application_name: "bench" });
  await migrateDatabase(database.db);
  const ended = { count: 0 };
  const engine = createEngine({ database, log, node_id: "bench", roles: ["worker"], claimImmediately: true });
  engine.register({
    kind: "churn",
    role: "worker",
    laneConcurrency: 4,
    nodeConcurrency: 256,
    run: (job) => end(job, ended),
  });
  const lanes = [];
  for (let n = 0; n < LANES; n++) lanes.push(await addLane(database.db, "churn", String(n)));
  await engine.start();
  await feed(database, (touched) => engine.wake(touched), { lanes, total, ended });
  await engine.stop();
  await database.close();
  await postgres.stop();
}

async function end(job: Job, ended: { count: number }): Promise<JobResult> {
  if (job.attempts === 0 && job.pos % RETRY_ONE_OF === 0) return { end: "retry", at: new Date() };
  ended.count += 1;
  return { end: "done" };
}

interface Churn {
  lanes: number[];
  total: number;
  ended: { count: number };
}

async function feed(
  database: Database,
  wake: (lanes: number[]) => void,
  { lanes, total, ended }: Churn,
): Promise<void> {
  const every = total / REPORTS;
  let began = performance.now();
  let told = 0;
  for (let added = 0; ended.count < total; ) {
    if (added < total && added - ended.count < STANDING) {
      const jobs = Array.from({ length: Math.min(BATCH, total - added) }, (_, n) => jobOf(lanes, added + n));
      await addJobs(database.db, jobs);
      added += jobs.length;
      wake(jobs.map(({ lane }) => lane));
    } else {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    if (ended.count < told + every && ended.count < total) continue;
    const perSecond = ((ended.count - told) * 1000) / (performance.now() - began);
    console.log(`${ended.count} jobs: ${perSecond.toFixed(0)}/s; ${await readSizes(database)}`);
    told = ended.count;
    began = performance.now();
  }
}

function jobOf(lanes: number[], n: number): NewJob {
  const lane = lanes[n % lanes.length] ?? 0;
  return { lane, prio: 1, pos: n, grp: `chat ${n % 7}`, ref: { do: "churn", number: n } };
}

async function readSizes({ pool }: Database): Promise<string> {
  const { rows } = await pool.query<Record<string, number>>(
    `select pg_table_size('job') / 1048576.0::float8 as heap,
       pg_relation_size('job_lane') / 1048576.0::float8 as by_lane, pg_relation_size('job_pkey') / 1048576.0::float8 as by_id,
       (select count(*)::int from job) as rows, n_dead_tup::int as dead, autovacuum_count::int as vacuums
     from pg_stat_user_tables where relname = 'job'`,
  );
  const { heap = 0, by_lane = 0, by_id = 0, rows: standing, dead, vacuums } = rows[0] ?? {};
  return `rows ${heap.toFixed(1)} MB, index by lane ${by_lane.toFixed(1)} MB, by id ${by_id.toFixed(1)} MB, ${standing} jobs, ${dead} dead rows, vacuumed ${vacuums} times`;
}
