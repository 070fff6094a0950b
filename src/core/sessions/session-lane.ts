import type { Job, JobResult, Lane, LaneKind } from "../../engine/engine.ts";
import { withTimeout } from "../../platform/limits/with-timeout.ts";
import { CONTROL_JOB_GROUP } from "../instances/instances.ts";
import { resumeSession } from "./open-session.ts";
import type { OwnedSessions } from "./owned-sessions.ts";
import { type ControlJobDeps, runControlJob } from "./run-control-job.ts";

export interface SessionLaneDeps extends ControlJobDeps {
  sessions: OwnedSessions;
  /** Runs jobs of other features, by the `do` of their reference; all other jobs are control jobs. */
  runners: ReadonlyMap<string, (job: Job) => Promise<JobResult>>;
  /** Job groups of other features that run even while the lane is paused. */
  unpaused: readonly string[];
  failStuckSends(): Promise<void>;
  /** Wakes the maintenance node to fail the same sends at once. */
  failStuckSendsSoon(): Promise<void>;
  /** Resolves when every subscriber has the events of the instance, or after the timeout. */
  waitUntilReported(instanceId: number, timeoutMs: number): Promise<void>;
}

/** The owner of an instance's lane has its session open and runs its jobs. */
export function sessionLane(deps: SessionLaneDeps): LaneKind {
  const { sessions, runners, unpaused } = deps;
  return {
    kind: "session",
    role: "sessions",
    // Files use at most four of these.
    laneConcurrency: 16,
    unpausedGroups: [CONTROL_JOB_GROUP, ...unpaused],
    run(job) {
      const { do: what } = job.ref as { do: string };
      const run = runners.get(what);
      return run ? run(job) : control(deps, job, what);
    },
    async onClaimed(lane) {
      if (await sessions.claim(lane)) await resumeSession(deps, sessions, lane);
    },
    onLost: (lane) => sessions.lose(lane),
  };
}

/** Runs a control job; a logout or deletion also fails the instance's waiting sends. */
async function control(deps: SessionLaneDeps, job: Job, what: string): Promise<JobResult> {
  if (what === "delete") await reportFailedSends(deps, job.lane);
  const result = await runControlJob(deps, deps.sessions, job);
  if (what === "logout") await deps.failStuckSendsSoon();
  return result;
}

const REPORT_MS = 5_000;

/** Fails waiting sends before a deletion, while other programs can still receive the events. */
async function reportFailedSends(deps: SessionLaneDeps, { key }: Lane): Promise<void> {
  const instance_id = Number(key);
  const reporting = deps
    .failStuckSends()
    .then(() => deps.waitUntilReported(instance_id, REPORT_MS))
    .catch((error: unknown) =>
      deps.log.warn({ err: error, instance_id }, "some failed sends were not reported"),
    );
  await withTimeout(reporting, REPORT_MS);
}
