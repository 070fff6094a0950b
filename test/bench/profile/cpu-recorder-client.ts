import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import type { Profiler } from "node:inspector";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { packageRoot } from "../../../src/platform/config/package-version.ts";
import type { RecorderOrder } from "./cpu-recorder.ts";

/** The module to preload. */
export const CPU_RECORDER = pathToFileURL(
  join(packageRoot(), "dist/test/bench/profile/cpu-recorder.js"),
).href;

export interface CpuRecorder {
  start(): Promise<void>;
  stop(): Promise<Profiler.Profile>;
}

/** To a process that has the module preloaded and a channel to this one. */
export function connectCpuRecorder(child: ChildProcess): CpuRecorder {
  const ask = async (order: RecorderOrder): Promise<void> => {
    const done = once(child, "message");
    child.send(order);
    await done;
  };
  return {
    start: () => ask({ do: "start" }),
    async stop() {
      const path = join(tmpdir(), `gateway-${child.pid}.cpuprofile`);
      await ask({ do: "stop", path });
      const text = await readFile(path, "utf8");
      await rm(path);
      return JSON.parse(text) as Profiler.Profile;
    },
  };
}
