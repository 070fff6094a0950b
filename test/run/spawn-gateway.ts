import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { packageRoot } from "../../src/platform/package-version.ts";

const PROGRAM = join(packageRoot(), "bin/waygate.mjs");
const PASSED_ON = ["PATH", "HOME", "TMPDIR", "LANG"];
const START_WITHIN_MS = 120_000;

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The built program in its own process, which may not listen yet. */
export interface LaunchedGateway {
  readonly pid: number;
  /** Its URL. Rejects with the output if the process ends first. */
  readonly listening: Promise<string>;
  readonly exited: Promise<Exit>;
  /** Combined output so far. */
  output(): string;
  /** Sends a signal and waits for the exit. */
  kill(signal?: NodeJS.Signals): Promise<Exit>;
}

export interface SpawnedGateway extends LaunchedGateway {
  readonly url: string;
}

/** Another copy of the program, or another user to run it. */
export interface LaunchOptions {
  program?: string;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** Makes the program believe that a terminal reads its output. */
  isTerminal?: boolean;
}

/** The output stays a pipe, which the test reads. */
const AS_TERMINAL = ["--import", "data:text/javascript,process.stdout.isTTY=true"];

/** Starts the program with only these environment variables. */
export function launchGateway(
  settings: Record<string, string>,
  command = "serve",
  { program = PROGRAM, isTerminal = false, ...options }: LaunchOptions = {},
): LaunchedGateway {
  const passedOn = PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []));
  const child = spawn(process.execPath, [...(isTerminal ? AS_TERMINAL : []), program, command], {
    ...options,
    env: { ...Object.fromEntries(passedOn), ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const endWithUs = (): void => void child.kill("SIGKILL");
  process.once("exit", endWithUs);
  const exited = once(child, "close").then(([code, signal]): Exit => {
    process.off("exit", endWithUs);
    return { code, signal };
  });
  let output = "";
  const listening = new Promise<string>((resolve, reject) => {
    const giveUp = (why: string) => reject(new Error(`The gateway ${why}. It said:\n${output}`));
    const timer = setTimeout(giveUp, START_WITHIN_MS, "was not up in time");
    for (const channel of [child.stdout, child.stderr]) {
      channel.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        const url = output.match(/^Waygate listens on (http:\S+)/m)?.[1];
        if (url) resolve(url);
      });
    }
    void exited.then(({ code, signal }) => giveUp(`ended with ${code ?? signal}`));
    void exited.finally(() => clearTimeout(timer));
  });
  listening.catch(() => {});
  return {
    pid: child.pid ?? 0,
    listening,
    exited,
    output: () => output,
    kill(signal = "SIGKILL") {
      child.kill(signal);
      return exited;
    },
  };
}

/** Starts the program and waits until it listens. */
export async function spawnGateway(
  settings: Record<string, string>,
  options?: LaunchOptions,
): Promise<SpawnedGateway> {
  const gateway = launchGateway(settings, "serve", options);
  return { ...gateway, url: await gateway.listening };
}
