import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { packageRoot } from "../../../src/platform/package-version.ts";

// biome-ignore lint/suspicious/noExplicitAny: each process says what it takes
type RequestHandlers = Record<string, (input: any) => Promise<unknown>>;

/** A process of the bench, separate so that its CPU time can be measured. */
export interface BenchProcess<Handlers extends RequestHandlers> {
  pid: number;
  ask<Name extends keyof Handlers & string>(
    name: Name,
    input: Parameters<Handlers[Name]>[0],
  ): Promise<Awaited<ReturnType<Handlers[Name]>>>;
  stop(): void;
}

interface Reply {
  id: number;
  result?: unknown;
  error?: string;
}

/** Runs the named module of `processes`, which calls `serveRequests`. */
export function spawnBenchProcess<Handlers extends RequestHandlers>(name: string): BenchProcess<Handlers> {
  const child = fork(join(packageRoot(), `dist/test/bench/processes/${name}.js`));
  let asked = 0;
  return {
    pid: child.pid ?? 0,
    ask: (handler, input) => askOnce(child, ++asked, { name: handler, input }),
    stop: () => void child.kill("SIGKILL"),
  };
}

function askOnce<Result>(
  child: ChildProcess,
  id: number,
  request: { name: string; input: unknown },
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = (take: () => void) => {
      child.off("message", onMessage).off("exit", onExit);
      take();
    };
    const onMessage = (reply: Reply) => {
      if (reply.id !== id) return;
      end(() =>
        reply.error === undefined ? resolve(reply.result as Result) : reject(new Error(reply.error)),
      );
    };
    const onExit = (code: number) =>
      end(() => reject(new Error(`The process for "${request.name}" ended with ${code}.`)));
    child.on("message", onMessage).on("exit", onExit);
    child.send({ id, ...request });
  });
}

/** Serves requests until the bench ends. */
export function serveRequests(handlers: RequestHandlers): void {
  if (!process.connected) process.exit(0);
  process.on("disconnect", () => process.exit(0));
  process.on("message", async ({ id, name, input }: { id: number; name: string; input: unknown }) => {
    try {
      process.send?.({ id, result: await handlers[name]?.(input) });
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? error.message : String(error) });
    }
  });
}
