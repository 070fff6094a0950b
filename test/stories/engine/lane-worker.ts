import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { createEngine } from "../../../src/engine/engine.ts";
import type { AddedJob } from "../../../src/engine/job-store.ts";
import { openDatabase } from "../../../src/platform/db/database.ts";

/** Options of a node process. It records each attempt in the table `ledger` first. */
export interface LaneWorkerOptions {
  url: string;
  node_id: string;
  claimImmediately: boolean;
  /** Duration of a job in ms; null never ends. */
  jobMs: number | null;
  nodeConcurrency?: number;
  /** Repeatedly adds a job to each of four groups of every lane, and dispatches those that are first. */
  adds?: boolean;
  times: { heartbeatMs: number; deadAfterMs: number; selfFenceMs: number };
}

const { url, times, jobMs, nodeConcurrency, adds, node_id, claimImmediately }: LaneWorkerOptions = JSON.parse(
  process.argv[2] ?? "{}",
);
const database = openDatabase(url);
const log = pino({ level: "warn" }, pino.destination({ dest: 2, sync: true }));
const engine = createEngine({
  database,
  log,
  node_id,
  claimImmediately,
  roles: ["worker"],
  pollMs: 100,
  ...times,
});
engine.register({
  kind: "k",
  role: "worker",
  laneConcurrency: 4,
  nodeConcurrency,
  async run(job) {
    await database.pool.query(
      "insert into ledger (job, lane, grp, pos, attempts, node) values ($1, $2, $3, $4, $5, $6)",
      [job.id, job.lane.id, job.grp, job.pos, job.attempts, node_id],
    );
    await (jobMs === null ? new Promise(() => {}) : sleep(jobMs));
    return { end: "done" };
  },
});
await engine.start();

/** More jobs would remain on a busy machine. */
const MOST_WAITING = 1_000;

async function isBehind(): Promise<boolean> {
  const { rows } = await database.pool.query<{ count: number }>("select count(*) from job");
  return (rows[0]?.count ?? 0) > MOST_WAITING;
}

for (let pos = 1; adds; pos++) {
  while (await isBehind()) await sleep(20);
  const { rows } = await database.pool.query<AddedJob & { is_first: boolean }>(
    `with job_added as (
       insert into job (lane, prio, pos, grp, ref)
       select lane.id, 1, $1, 'g' || grp, '{}' from lane, generate_series(1, 4) grp
       returning job.*,
         not exists (select from job e where e.lane = job.lane and e.grp = job.grp and e.id <> job.id) as is_first
     ), noted as (insert into added (job) select id from job_added)
     select * from job_added`,
    [pos],
  );
  engine.dispatch(rows.filter(({ is_first }) => is_first));
  engine.wake(rows.filter(({ is_first }) => !is_first).map(({ lane }) => lane));
  await sleep(20);
}
