import { open } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";

/** Opens a file directly in the backup directory; undefined if it does not exist, and for any other path. */
export async function openBackupFile(directory: string, file: string): Promise<Readable | undefined> {
  if (basename(file) !== file) return undefined;
  const handle = await open(join(directory, file)).catch(() => undefined);
  return handle?.createReadStream();
}
