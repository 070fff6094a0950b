import { statfs } from "node:fs/promises";

const MB = 1_000_000;

/** Throws an Error that names the folder if its disk has less free space than this. */
export async function requireFreeSpace(directory: string, leastBytes: number): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(directory);
  // Some network file systems report no size.
  if (blocks === 0 || bavail * bsize >= leastBytes) return;
  const [free, least] = [bavail * bsize, leastBytes].map((bytes) => Math.floor(bytes / MB));
  throw new Error(
    `The disk with ${directory} is full: ${free} MB are free, and at least ${least} MB are needed. ` +
      "Free some space, or set WAYGATE_DATA_DIR to a folder on another disk.",
  );
}
