import { setTimeout as sleep } from "node:timers/promises";
import { isTransientDatabaseError } from "../platform/db/database.ts";
import type { Engine } from "./engine.ts";
import type { Lane } from "./lane-kind.ts";

const AGAIN_MS = 500;

/**
 * Writes down what a job has done, which must not be forgotten, or it is done twice: while the database is away or others
 * hold the rows it is tried again, as long as the lane is ours. Any other error is thrown.
 */
export async function retryUntilCommitted<Result>(
  engine: Pick<Engine, "laneOf">,
  { kind, key, epoch }: Lane,
  write: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      const isOurs = engine.laneOf(kind, key)?.epoch === epoch;
      if (!isOurs || !isTransientDatabaseError(error)) throw error;
      await sleep(AGAIN_MS);
    }
  }
}
