import { execFileSync } from "node:child_process";
import type { Need } from "./chaos-row.ts";

const IS_THERE: Record<Need, () => boolean> = {
  root: isRoot,
  mount: () => isRoot() && runs("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"),
  netns: () => isRoot() && runs("unshare", "--net", "ip", "link", "set", "lo", "up"),
  pgbouncer: () => runs("pgbouncer", "--version"),
};

/** What this machine lacks of it. */
export function findMissing(needs: readonly Need[] = []): Need[] {
  return needs.filter((need) => !IS_THERE[need]());
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function runs(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
