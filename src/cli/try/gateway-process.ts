import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

const UP_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 25_000;

/** A gateway as a separate process that can be killed and restarted on the same data. */
export class GatewayProcess {
  readonly #program: string;
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;
  #printed = "";
  #isOver = false;
  /** From the second start on: its URL stays the same. */
  #port: string | undefined;

  constructor(program: string, env: NodeJS.ProcessEnv) {
    this.#program = program;
    this.#env = env;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Returns its URL; if it does not start, throws with its output. */
  async start(): Promise<string> {
    if (this.#isOver) throw new Error("The gateway was stopped for the last time.");
    this.#printed = "";
    const child = spawn(process.execPath, [this.#program, "serve"], {
      env: { ...this.#env, ...(this.#port && { WAYGATE_PORT: this.#port }) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    process.once("exit", () => child.kill("SIGKILL"));
    const up = new Promise<string>((resolve) => {
      for (const channel of [child.stdout, child.stderr]) {
        channel.setEncoding("utf8").on("data", (text: string) => {
          this.#printed += text;
          const url = this.#printed.match(/^Waygate listens on (http:\S+)/m)?.[1];
          if (url) resolve(url);
        });
      }
    });
    const ended = once(child, "exit").then(() => undefined);
    const url = await Promise.race([up, ended, delay(UP_WITHIN_MS, undefined, { ref: false })]);
    if (url) {
      this.#port = new URL(url).port;
      return url;
    }
    throw new Error(`The gateway did not start. Its output:\n${this.#printed.trim()}`);
  }

  /** Kills it with SIGKILL. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Stops it gracefully for the last time. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.race([this.#end("SIGINT"), delay(STOP_WITHIN_MS, undefined, { ref: false })]);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (!this.#child || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }
}
