import { readdir, readFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";

const TICK_MS = 10;

/** Resident memory in MB. */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** CPU time of this process alone so far, in milliseconds. */
export async function cpuMs(pid: number): Promise<number> {
  return (await readProcess(pid)).ownMs;
}

export interface ProcessTimes {
  parent: number;
  ownMs: number;
  /** CPU time of ended children. */
  endedMs: number;
}

export async function readProcess(pid: number): Promise<ProcessTimes> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
  const ownMs = (user + system) * TICK_MS;
  return { parent: fields[1] ?? 0, ownMs, endedMs: (endedUser + endedSystem) * TICK_MS };
}

/** The first matching process followed by its children; empty without a match. */
export async function findProcessTree(isRoot: (command: string, pid: number) => boolean): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  let root: number | undefined;
  const parents = new Map<number, number>();
  for (const pid of pids) {
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (isRoot(command, pid)) root ??= pid;
    const times = await readProcess(pid).catch(() => undefined);
    if (times) parents.set(pid, times.parent);
  }
  if (root === undefined) return [];
  return [root, ...pids.filter((pid) => parents.get(pid) === root)];
}

export interface ProcessUse {
  /** So far, in milliseconds. */
  cpuMs: number;
  /** Proportional set size in MB. */
  proportionalMb: number;
}

/** CPU time and memory of these processes. Ended ones count through the first, their parent. */
export async function readUse([root, ...rest]: readonly number[]): Promise<ProcessUse> {
  const use: ProcessUse = { cpuMs: 0, proportionalMb: 0 };
  if (root === undefined) return use;
  use.cpuMs = (await readProcess(root)).endedMs;
  for (const pid of [root, ...rest]) {
    use.cpuMs += await cpuMs(pid).catch(() => 0);
    use.proportionalMb += await proportionalMb(pid);
  }
  return use;
}

/** Proportional set size in MB; 0 after the process has ended. */
async function proportionalMb(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
}

export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The machine on which figures were measured. */
export function describeMachine(): string {
  const { node, processors, memory_gib } = readMachine();
  return `Node ${node}, ${processors}, ${memory_gib} GiB`;
}

export function readMachine() {
  const { model = "unknown" } = cpus()[0] ?? {};
  return {
    node: process.version,
    processors: `${cpus().length} x ${model}`,
    memory_gib: Math.round(totalmem() / 2 ** 30),
  };
}
