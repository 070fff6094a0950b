import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** A running process as the system reports it; `started` differs if the process id was reused. */
export interface RunningProcess {
  pid: number;
  started: string;
  /** The program and its arguments, as far as the system reports them. */
  command: string[];
}

/** The process with this id, or undefined if there is none (a zombie does not count). */
export function findProcess(pid: number): RunningProcess | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (process.platform === "linux") return readProc(pid);
  if (process.platform === "win32") return isSignalable(pid) ? { pid, started: "", command: [] } : undefined;
  return queryPs(pid);
}

/** Whether `started` can be of this machine's current boot, as far as known; host names are not unique. */
export function isOfThisBoot(started: string): boolean {
  if (process.platform !== "linux") return true;
  return started.split("/")[0] === findProcess(process.pid)?.started.split("/")[0];
}

function readProc(pid: number): RunningProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the name in brackets, which may itself contain brackets.
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

function queryPs(pid: number): RunningProcess | undefined {
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
