import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statfsSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Round } from "./chaos-row.ts";

const PIECE = Buffer.alloc(64 * 1024, "x");

/** A volume of its own in memory, gone when the round is over. */
export interface SmallDisk {
  path: string;
  /** Takes all room but so many bytes. */
  fill(leave?: number): void;
  /** Gives back what was taken. */
  free(): void;
}

export function mountSmallDisk(round: Round, mebibytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), "waygate-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", path]);
  chmodSync(path, 0o755);
  round.afterwards(() => {
    execFileSync("umount", ["--lazy", path]);
    rmdirSync(path);
  });
  const filler = join(path, "filler");
  return {
    path,
    fill(leave = 0) {
      const file = openSync(filler, "a");
      let size = 0;
      try {
        for (;;) size += writeSync(file, PIECE);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      } finally {
        if (leave > 0) ftruncateSync(file, Math.max(0, size - leave));
        closeSync(file);
      }
      if (leave === 0 && statfsSync(path).bavail > 0) throw new Error(`${path} is not full`);
    },
    free: () => rmSync(filler, { force: true }),
  };
}
