import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { createEngine } from "../src/engine/engine.ts";
import { openDatabase } from "../src/platform/db/database.ts";

/** What a node of its own process is told: it writes each try into the table `ledger` before it does anything else. */
export interface LaneWorkerOptions {
  url: string;
  node_id: string;
  claimImmediately: boolean;
  /** Duration of a job in milliseconds; null: it never ends. */
  jobMs: number | null;
  nodeConcurrency?: number;
  times: { heartbeatMs: number; deadAfterMs: number; selfFenceMs: number };
}

const { url, times, jobMs, nodeConcurrency, node_id, claimImmediately }: LaneWorkerOptions = JSON.parse(
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
