import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { waitUntil } from "../gateway.ts";
import { ROOT } from "../source-files.ts";
import type { Exit } from "./spawn-gateway.ts";

/** A command of the built program in its own process. */
export interface CliProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;
  stdout(): string;
  stderr(): string;
  /** Waits until the combined output matches. Throws it if the process ends without a match. */
  waitFor(what: RegExp): Promise<void>;
}

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Starts a command with only these variables and those that Node needs. `input` is its standard input. */
export function startCli(
  args: readonly string[],
  env: Record<string, string> = {},
  { input, cwd = ROOT }: { input?: string; cwd?: string } = {},
): CliProcess {
  const { PATH = "", HOME = "", TMPDIR } = process.env;
  const child = spawn(process.execPath, [join(ROOT, "dist/program/main.js"), ...args], {
    cwd,
    env: { PATH, HOME, ...(TMPDIR !== undefined && { TMPDIR }), ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {}).end(input ?? "");
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
    });
  }
  const endWithUs = (): void => void child.kill("SIGKILL");
  process.once("exit", endWithUs);
  const exited = once(child, "close").then(([code, signal]): Exit => {
    process.off("exit", endWithUs);
    return { code, signal };
  });
  const output = () => said.stdout + said.stderr;
  return {
    child,
    exited,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    async waitFor(what) {
      const isOver = () => child.exitCode !== null || child.signalCode !== null;
      await waitUntil(() => what.test(output()) || isOver());
      if (!what.test(output())) await exited;
      if (!what.test(output())) throw new Error(`${args.join(" ")} ended without ${what}:\n${output()}`);
    },
  };
}

/** Runs a command to its end. */
export async function runCli(...start: Parameters<typeof startCli>): Promise<CliResult> {
  const { exited, stdout, stderr } = startCli(...start);
  const { code } = await exited;
  return { code, stdout: stdout(), stderr: stderr() };
}
