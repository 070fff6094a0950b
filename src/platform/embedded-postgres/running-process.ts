import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** What the system says of a running process; `started` differs when the number has been given to another one. */
export interface RunningProcess {
  pid: number;
  started: string;
  /** The program and its arguments, as far as the system tells. */
  command: string[];
}

/** The process with that number, or undefined when there is none (one that is dead but not yet reaped is none). */
export function findProcess(pid: number): RunningProcess | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (process.platform === "linux") return readProc(pid);
  if (process.platform === "win32") return isSignalable(pid) ? { pid, started: "", command: [] } : undefined;
  return askPs(pid);
}

/** Whether such a `started` can be of this machine since it came up, as far as the system tells: names of machines repeat. */
export function isOfThisBoot(started: string): boolean {
  if (process.platform !== "linux") return true;
  return started.split("/")[0] === findProcess(process.pid)?.started.split("/")[0];
}

function readProc(pid: number): RunningProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the name in brackets and may hold anything, brackets too.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
    return { pid, started: `${bootId()}/${fields[19]}`, command };
  } catch {
    return undefined;
  }
}

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

function askPs(pid: number): RunningProcess | undefined {
  try {
    return { pid, started: ps(pid, "lstart="), command: ps(pid, "command=").split(" ") };
  } catch {
    return undefined;
  }
}

function ps(pid: number, field: string): string {
  return execFileSync("/bin/ps", ["-ww", "-o", field, "-p", `${pid}`], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    env: { LC_ALL: "C" },
  }).trim();
}

function isSignalable(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
