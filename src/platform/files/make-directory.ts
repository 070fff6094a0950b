import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Creates a directory (0700) and those above it. The recursive `mkdir` of Node never returns where the system reports an
 * existing parent as absent, such as below /proc.
 */
export async function makeDirectory(path: string): Promise<void> {
  const parent = dirname(path);
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (await isDirectory(path)) return;
    const isParentMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isParentMissing || parent === path || (await isDirectory(parent))) throw error;
    await makeDirectory(parent);
    await makeDirectory(path);
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
