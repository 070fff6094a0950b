import { writeSync } from "node:fs";
import type { DestinationStream } from "pino";

/** For a reader that is slow; then lines are dropped without waiting, until it takes one. */
const PATIENCE_MS = 200;
const PAUSE_MS = 5;

type Write = (fd: number, bytes: Uint8Array) => number;

/**
 * Lines to a file descriptor, each written before the call returns. What it does not take (no room, no reader) is
 * dropped: nobody's work may fail or hang because of a log.
 */
export function createLogOutput(fd: number, write: Write = writeSync): DestinationStream {
  // A piece of a line stands there already, and the next line must not become part of it.
  let isTorn = false;
  let patienceMs = PATIENCE_MS;

  return {
    write(line) {
      const bytes = Buffer.from(isTorn ? `\n${line}` : line);
      const written = writeAll(bytes);
      if (written === bytes.byteLength) isTorn = false;
      else if (written > 0) isTorn = true;
    },
  };

  function writeAll(bytes: Buffer): number {
    const until = performance.now() + patienceMs;
    let at = 0;
    while (at < bytes.byteLength) {
      try {
        at += write(fd, bytes.subarray(at));
        patienceMs = PATIENCE_MS;
      } catch (error) {
        if (isBusy(error) && performance.now() < until) {
          pause();
          continue;
        }
        patienceMs = 0;
        return at;
      }
    }
    return at;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}
