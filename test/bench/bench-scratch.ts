import { chmod } from "node:fs/promises";
import { constants } from "node:os";
import { makeScratchDir, type ScratchDir } from "../run/scratch-dir.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Puts all temporary files of this process into one directory. However the process ends, the databases in there end with
 * it, and so do the gateways that it has started, at its exit.
 */
export async function openBenchScratch(): Promise<ScratchDir> {
  for (const signal of SIGNALS) process.once(signal, () => process.exit(128 + constants.signals[signal]));
  const scratch = await makeScratchDir("waygate-bench-");
  // The user that runs PostgreSQL passes through.
  await chmod(scratch.path, 0o711);
  process.env.TMPDIR = scratch.path;
  return scratch;
}
