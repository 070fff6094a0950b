import { accessSync, constants, statfsSync } from "node:fs";

const SHARED_MEMORY = "/dev/shm";
const TMPFS = 0x01021994;
const NEEDED_BYTES = 6 * 1024 ** 3;

/** A folder in memory with room for the files of a whole test run, if this machine has one. */
export function findMemoryFolder(): string | undefined {
  try {
    const { type, bavail, bsize } = statfsSync(SHARED_MEMORY);
    accessSync(SHARED_MEMORY, constants.W_OK);
    const free = Math.min(bavail * bsize, process.availableMemory());
    return type === TMPFS && free >= NEEDED_BYTES ? SHARED_MEMORY : undefined;
  } catch {
    return undefined;
  }
}
