import type { Job, JobResult, LaneKind } from "../../engine/engine.ts";
import type { RecurringJob } from "../../engine/recurring-jobs.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { copyErasureLog, type LoggedErasure, repeatErasures } from "./erasure-log.ts";
import { applyHeldJobsDecision, type HeldJobsDeps } from "./held-jobs.ts";
import { BACKUP_LANE, isBackupDue, requestBackup } from "./request-backup.ts";
import { type BackupDeps, failInterruptedBackups, runBackup } from "./run-backup.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** One lane for all nodes: only one backup runs at a time, and a backup whose process died has failed. */
export function backupLane(deps: BackupDeps): LaneKind {
  let isRunning = new AbortController();
  return {
    kind: BACKUP_LANE,
    role: "worker",
    laneConcurrency: 1,
    async run(job: Job): Promise<JobResult> {
      isRunning = new AbortController();
      const { signal } = isRunning;
      const { backup } = job.ref as { backup: string };
      await runBackup(deps, backup, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      // The next owner of the lane marks the backup as interrupted.
      return signal.aborted ? { end: "retry", at: new Date() } : { end: "done" };
    },
    onLost: async () => isRunning.abort(),
  };
}

export interface RecurringBackupDeps extends BackupDeps, HeldJobsDeps {
  /** Milliseconds after midnight (UTC); undefined: only requested backups. */
  quietHourMs: number | undefined;
  repeatErasure(entry: LoggedErasure): Promise<void>;
}

/** Scheduled work: the daily backup, and what a restore has left to do. */
export function recurringBackupJobs(deps: RecurringBackupDeps): RecurringJob[] {
  let copiedUntil = 0;
  return [
    { name: "backup-of-the-day", everyMs: MINUTE, run: () => makeBackupOfTheDay(deps) },
    { name: "interrupted-backups", everyMs: MINUTE, run: () => failInterruptedBackups(deps) },
    { name: "held-work", everyMs: 2 * SECOND, run: () => applyHeldJobsDecision(deps) },
    {
      name: "erasure-log",
      everyMs: MINUTE,
      async run() {
        await repeatErasures(deps.db, deps.repeatErasure);
        copiedUntil = await copyErasureLog(deps.db, deps.directory, copiedUntil);
      },
    },
  ];
}

async function makeBackupOfTheDay({ db, engine, quietHourMs, clock }: RecurringBackupDeps): Promise<void> {
  if (quietHourMs === undefined || !(await isBackupDue(db, quietHourMs, clock.now()))) return;
  try {
    const { lane } = await requestBackup(db, { caller: { kind: "system" } }, "schedule");
    engine.wake([lane]);
  } catch (error) {
    // Another request started a backup first.
    if (!(error instanceof GatewayError && error.code === "CONFLICT")) throw error;
  }
}
