import { setTimeout as sleep } from "node:timers/promises";
import { isTransientDatabaseError } from "../platform/db/database.ts";
import type { Engine } from "./engine.ts";
import type { Lane } from "./lane-kind.ts";

const AGAIN_MS = 500;

/**
 * Writes the result of a job, since a lost result would run the job twice. Retries while the database is
 * unavailable or rows are locked, as long as this node owns the lane. Throws any other error.
 */
export async function retryUntilCommitted<Result>(
  engine: Pick<Engine, "findOwnedLane">,
  { kind, key, epoch }: Lane,
  write: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      const isOwned = engine.findOwnedLane(kind, key)?.epoch === epoch;
      if (!isOwned || !isTransientDatabaseError(error)) throw error;
      await sleep(AGAIN_MS);
    }
  }
}
