import { setTimeout as sleep } from "node:timers/promises";
import { isTransientDatabaseError } from "../platform/db/database.ts";
import type { Engine } from "./engine.ts";
import type { Lane } from "./lanes/lane-kind.ts";

const AGAIN_MS = 500;

/**
 * Writes the result of a job, since a lost result would run the job twice. Retries while the database is
 * unavailable or rows are locked, as long as this node owns the lane. Throws any other error. `isAgain`: an earlier try
 * may have been committed.
 */
export async function retryUntilCommitted<Result>(
  engine: Pick<Engine, "findOwnedLane">,
  { kind, key, epoch }: Lane,
  write: (isAgain: boolean) => Promise<Result>,
  againMs = AGAIN_MS,
): Promise<Result> {
  for (let isAgain = false; ; isAgain = true) {
    try {
      return await write(isAgain);
    } catch (error) {
      const isOwned = engine.findOwnedLane(kind, key)?.epoch === epoch;
      if (!isOwned || !isTransientDatabaseError(error)) throw error;
      await sleep(againMs);
    }
  }
}
