import { fetchLaneJobs } from "../../src/engine/job-store.ts";
import type { Database } from "../../src/platform/db/database.ts";
import { spread, startEventSource } from "../bench/event-source.ts";
import { percentile, residentMb } from "../run/process-figures.ts";
import type { LoadTestOptions } from "./load-stage.ts";
import {
  atOrAbove,
  holdsWithin,
  type LoadVerdict,
  pairEach,
  startLoadStage,
  watchProcess,
} from "./load-stage.ts";
import { startReceivers } from "./receivers.ts";

const RECEIVERS = 20;
const SAMPLE_MS = 500;
const GOAL_MS = 20;

/**
 * P6: a million pending deliveries at the start. How long the gateway takes to find the next ones and to deliver all.
 */
export async function runBacklog({ jobs = 1_000_000 }: LoadTestOptions): Promise<LoadVerdict> {
  const stage = await startLoadStage();
  const receivers = await startReceivers(RECEIVERS);
  const instances = await pairEach(stage, receivers, "P6");
  await stage.stopGateway();
  const source = await startEventSource(stage.database);
  const filledAt = performance.now();
  await source.fill(instances, jobs);
  console.log(`P6: ${jobs} events with their deliveries recorded in ${seconds(filledAt)} s`);
  await source.stop();
  await stage.startGateway();
  const before = await residentMb(stage.gateway.pid);
  const memory = watchProcess(() => stage.gateway.pid, 5_000);
  const claims = sampleClaims(stage.database);
  const began = performance.now();
  const drained = await holdsWithin(jobs * 4 + 60_000, () => receivers.count >= jobs);
  const rate = (receivers.count * 1000) / (performance.now() - began);
  const times = await claims.stop();
  memory.stop();
  await stage.stopGateway();
  const found = await receivers.check(stage.database);
  const most = Math.max(before, ...memory.samples.map(({ residentMb: mb }) => mb));
  console.log(
    `P6: drained at ${rate.toFixed(0)}/s; finding the next jobs of a lane ${spread(times)} (goal: p99 below ${GOAL_MS}); node ${before.toFixed(0)} MB before, ${most.toFixed(0)} MB at most`,
  );
  console.log(`P6: ${JSON.stringify(found)}`);
  receivers.close();
  await stage.close();
  const { events, ...differences } = found;
  return {
    ledgers: { ...differences, missing: jobs - events, undelivered: drained ? 0 : 1 },
    missed: atOrAbove(GOAL_MS, "p99 in ms of finding the next jobs", percentile(times, 0.99)),
  };
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}

/** The query of a lane that has four of its chats in flight. */
function claimOf(lane: number) {
  const skip = [0, 1, 2, 3].map((n) => `chat ${n}`);
  return { lane, limit: 4, skip, only: null, lowest: false };
}

function sampleClaims({ db }: Database): { stop(): Promise<number[]> } {
  const times: number[] = [];
  let isOver = false;
  const run = async () => {
    const lanes = await db.selectFrom("lane").select("id").where("kind", "=", "webhook").execute();
    for (let n = 0; !isOver; n++) {
      const began = performance.now();
      await fetchLaneJobs(db, claimOf(lanes[n % lanes.length]?.id ?? 0));
      times.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    }
    return times;
  };
  const running = run();
  return {
    stop() {
      isOver = true;
      return running;
    },
  };
}
