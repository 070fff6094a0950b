import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { residentMb } from "../process-figures.ts";
import { makeDataDir, removeDataDir, startBenchGateway } from "./bench-gateway.ts";

const IDLE_MS = 5000;

/** First and second start, and what an idle gateway holds in memory. */
export async function benchStart(): Promise<void> {
  const dataDir = await makeDataDir();
  const first = await startBenchGateway(dataDir);
  console.log(`first start to 200 on /health: ${first.startMs.toFixed(0)} ms`);
  await first.stop();
  const second = await startBenchGateway(dataDir);
  console.log(`second start to 200 on /health: ${second.startMs.toFixed(0)} ms (goal: below 1500)`);
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  console.log(`node, resident at idle: ${(await residentMb(second.pid)).toFixed(0)} MB (goal: below 150)`);
  const postgres = await proportionalMb(dataDir);
  console.log(`postgres, proportional set of its tree: ${postgres.toFixed(0)} MB (goal: below 100)`);
  await second.stop();
  await removeDataDir(dataDir);
}

/** The postmaster names its data directory; its children are found by their parent. */
async function proportionalMb(dataDir: string): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const parents = new Map<string, string>();
  let postmaster = "";
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    parents.set(pid, stat.slice(stat.lastIndexOf(")")).split(" ")[2] ?? "");
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (command.includes("postgres") && command.includes(dataDir)) postmaster = pid;
  }
  const tree = pids.filter((pid) => pid === postmaster || parents.get(pid) === postmaster);
  const sizes = await Promise.all(tree.map(proportionalKb));
  return sizes.reduce((sum, kb) => sum + kb, 0) / 1024;
}

async function proportionalKb(pid: string): Promise<number> {
  const rollup = await readFile(join("/proc", pid, "smaps_rollup"), "utf8").catch(() => "");
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
}
