import { pino } from "pino";
import { createEngine, type Engine, type EngineOptions, type LaneKind } from "../../../src/engine/engine.ts";
import { addJobs, type NewJob } from "../../../src/engine/job-store.ts";
import { addLane } from "../../../src/engine/lane-store.ts";
import { type Database, openDatabase } from "../../../src/platform/db/database.ts";
import { createTestDatabase } from "../../database.ts";

export interface EngineStory {
  url: string;
  database: Database;
  /** Log lines of the nodes. */
  lines: { level: number; msg: string; name?: string; err?: { message: string } }[];
  log: EngineOptions["log"];
  start(id: string, kinds: LaneKind[], options?: Partial<EngineOptions>): Promise<Engine>;
  /** Creates a lane with these jobs. `pos` counts from 0; the default group is `g`. */
  lane(kind: string, key: string, jobs?: Partial<NewJob>[]): Promise<number>;
  add(lane: number, jobs: Partial<NewJob>[]): Promise<void>;
  jobsLeft(): Promise<number>;
  /** Stops the nodes and empties the tables. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

/** Nodes in this process on the test's own database, with short failure timeouts. */
export async function createEngineStory(): Promise<EngineStory> {
  const { url, database, drop } = await createTestDatabase();
  // A separate pool: node failures must not end the test's statements.
  const ofNodes = openDatabase(url);
  const lines: EngineStory["lines"] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const engines: Engine[] = [];
  const add: EngineStory["add"] = (lane, jobs) =>
    addJobs(
      database.db,
      jobs.map((job, index) => ({ lane, prio: 1, pos: index, grp: "g", ref: {}, ...job })),
    );
  const rest = async (): Promise<void> => {
    await Promise.all(engines.splice(0).map((engine) => engine.stop({ graceMs: 100 })));
    await database.pool.query("truncate node, lane, job");
    lines.length = 0;
  };
  return {
    url,
    database,
    lines,
    log,
    add,
    rest,
    async start(id, kinds, options = {}) {
      const times = { heartbeatMs: 200, deadAfterMs: 4_000, selfFenceMs: 3_000, pollMs: 100 };
      const fixed = {
        database: ofNodes,
        log,
        node_id: id,
        roles: ["worker", "sessions"] as const,
        claimImmediately: true,
      };
      const engine = createEngine({ ...fixed, ...times, ...options });
      for (const kind of kinds) engine.register(kind);
      engines.push(engine);
      await engine.start();
      return engine;
    },
    async lane(kind, key, jobs = []) {
      const lane = await addLane(database.db, kind, key);
      await add(lane, jobs);
      return lane;
    },
    async jobsLeft() {
      const { rows } = await database.pool.query<{ count: number }>("select count(*) from job");
      return rows[0]?.count ?? 0;
    },
    async close() {
      await rest();
      await ofNodes.close();
      await drop();
    },
  };
}
