import { cpuMs, findProcessTree, readProcess, readUse } from "../run/process-figures.ts";
import type { LoadStage } from "./load-stage.ts";

/** What the node and its database have used so far. */
export interface Meter {
  nodeMs: number;
  databaseMs: number;
  walBytes: number;
  keptBytes: number;
}

const KB = 1024;

export async function readMeter({ gateway, database: { pool } }: LoadStage): Promise<Meter> {
  const { rows } = await pool.query<{ pid: number; wal: number; kept: number }>(
    `select pg_backend_pid() as pid, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal,
       pg_database_size(current_database())::float8 as kept`,
  );
  const { pid = 0, wal = 0, kept = 0 } = rows[0] ?? {};
  const { parent } = await readProcess(pid);
  const postgres = await readUse(await findProcessTree((_, one) => one === parent));
  return {
    nodeMs: await cpuMs(gateway.pid),
    databaseMs: postgres.cpuMs,
    walBytes: wal,
    keptBytes: kept,
  };
}

/** What each of so many has cost, in words. */
export function costOfEach(before: Meter, after: Meter, count: number): string {
  const each = (of: keyof Meter) => (after[of] - before[of]) / count;
  return `each costs ${each("nodeMs").toFixed(2)} ms of the node, ${each("databaseMs").toFixed(2)} ms of PostgreSQL, ${(each("walBytes") / KB).toFixed(1)} KiB of write-ahead log and ${(each("keptBytes") / KB).toFixed(1)} KiB of disk`;
}
