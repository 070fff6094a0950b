import { writeFile } from "node:fs/promises";
import { Session } from "node:inspector/promises";

/** What the bench asks of a gateway that has this module preloaded. */
export type RecorderOrder = { do: "start" } | { do: "stop"; path: string };

const SAMPLE_MICROSECONDS = 500;

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.setSamplingInterval", { interval: SAMPLE_MICROSECONDS });

process.on("message", async (order: RecorderOrder) => {
  if (order.do === "start") await session.post("Profiler.start");
  else {
    const { profile } = await session.post("Profiler.stop");
    await writeFile(order.path, JSON.stringify(profile));
  }
  process.send?.(order.do);
});
// The gateway ends when its own work does.
process.channel?.unref();
