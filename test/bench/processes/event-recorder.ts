import { openDatabase } from "../../../src/platform/db/database.ts";
import { type EventSource, startEventSource } from "../../load/event-source.ts";
import type { Pace } from "../../load/open-loop.ts";
import { serveRequests } from "./bench-process.ts";

export type EventRecorder = typeof handlers;

let source: EventSource | undefined;

/** A node that only records events, in turn for each of the instances. */
const handlers = {
  async connect(databaseUrl: string): Promise<void> {
    source = await startEventSource(openDatabase(databaseUrl, { max: 2, application_name: "bench" }));
  },

  /** Returns how many were recorded. */
  async record({ instances, pace }: { instances: number[]; pace: Pace }): Promise<number> {
    return connected().record(instances, pace);
  },

  async fill({ instances, count }: { instances: number[]; count: number }): Promise<void> {
    await connected().fill(instances, count);
  },
};

serveRequests(handlers);

function connected(): EventSource {
  if (!source) throw new Error("Connect the recorder of events before it records.");
  return source;
}
